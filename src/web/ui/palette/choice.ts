/** What the search lists. */
import type { IconName } from '../parts/icons.tsx'

/** The groups, in the order shown while nothing is typed. Customers, which are found last, are below the others. */
export const GROUPS = [
  'Pages',
  'Settings',
  'Metrics',
  'Apps',
  'View options',
  'Actions',
  'Customers',
] as const
type GroupName = (typeof GROUPS)[number]

export type Opening = { href: string } | { run: () => Promise<string | null> }

/**
 * One entry. `href` opens a page; `run` does something and returns a text to show, or null if the search closes.
 * `words` are found, too. `note` and `badge` are shown beside the title. `isOffered`: listed before anything is typed.
 */
export type Choice = {
  /** Recent choices are stored by it. */
  id: string
  group: GroupName
  title: string
  words?: string
  note?: string | undefined
  badge?: { title: string; tone: string }
  icon: IconName
  /** The keys that do the same, as `g r`. */
  keys?: string
  isOffered?: boolean
  /** It is never listed as recent. */
  isOnce?: boolean
} & Opening
