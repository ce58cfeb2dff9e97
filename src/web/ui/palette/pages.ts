/** The pages of the dashboard and of its settings, with words that find them. */
import type { VIEWS } from '../../views.ts'
import type { NavigationView, SignInPath } from '../addresses.ts'
import type { Session } from '../session.ts'
import { SECTIONS, type SectionName } from '../settings/sections.ts'
import type { Choice } from './choice.ts'

type Path = (typeof VIEWS)[number]['path']
type NavigationPath = NavigationView['path']
type OtherPath = Exclude<Path, `${string}:${string}` | SignInPath | NavigationPath>

const PAGE_WORDS: Record<NavigationPath, string> = {
  '/': 'overview home start dashboard feed live figures',
  '/revenue': 'sales income proceeds earnings money net arppu refunds countries country products csv export',
  '/refunds': 'returned money back reasons revocations chargebacks',
  '/subscriptions': 'subscribers churn cancellations waterfall risk billing recovery status',
  '/retention': 'cohorts conversion funnel ltv lifetime value downloads',
  '/metrics': 'charts figures list definitions kpi',
  '/customers': 'users people buyers purchases search',
  '/events': 'log history notifications webhooks feed',
  '/settings': 'preferences options setup',
}
/** The pages that have no entry in the navigation. Only the owner sees them. */
const OTHER_PAGES: Record<OtherPath, Pick<Choice, 'title' | 'words' | 'note' | 'icon'>> = {
  '/gaps': { title: 'Gaps', note: 'Events', words: 'missing notifications numbers', icon: 'warning' },
  '/coverage': {
    title: 'Coverage',
    note: 'Events',
    words: 'compare reports notifications complete',
    icon: 'table',
  },
  '/digests': { title: 'Digests', words: 'daily weekly morning summary report e-mail print', icon: 'print' },
}

const SECTION_WORDS: Record<SectionName, string> = {
  apps: 'bundle id connect organization currency',
  api: 'sdk keys secret publishable identify attribute snippets',
  devices: 'attestation app attest verified enrol',
  annotations: 'notes marks days charts releases versions prices launch add',
  alerts:
    'notifications push channels rules telegram slack discord mattermost teams google chat pushover gotify ntfy e-mail quiet hours mute silence messages',
  widgets: 'badges scriptable shortcuts home assistant home screen readme',
  webhooks: 'endpoints deliveries backend forwarding signing secret replay',
  apple: 'app store connect keys notifications url history test',
  import: 'reports history backfill',
  jobs: 'schedule tasks runs background',
  guests: 'share links accountant passcode read only',
  tokens: 'api read access bearer',
  security:
    'password sessions browsers sign-in audit log two-factor two factor second 2fa authenticator passkeys recovery codes attested devices only flood callers refused',
  configuration: 'settings file toml environment variables',
  system: 'health checks disk backup database',
  about: 'version license commit',
}

/** A view of the navigation, under the title that the session sees. */
function viewChoice({ path, navigation }: NavigationView, isOwner: boolean, href: Href): Choice {
  const { title, icon, key } = navigation
  const guestTitle = 'guestTitle' in navigation ? navigation.guestTitle : title
  return {
    id: `page:${path}`,
    group: 'Pages',
    title: isOwner ? title : guestTitle,
    words: PAGE_WORDS[path],
    icon,
    keys: `g ${key}`,
    isOffered: true,
    href: href(path),
  }
}

type Href = (path: string) => string

/**
 * The pages and settings that the session may open. `views`: those of its navigation. `href` adds the scope to a path.
 */
export function pageChoices(
  views: readonly NavigationView[],
  { state }: Pick<Session, 'state'>,
  href: Href,
): Choice[] {
  const isOwner = state === 'owner'
  const choices = views.map((view) => viewChoice(view, isOwner, href))
  if (!isOwner) return choices
  const others = Object.entries(OTHER_PAGES).map(
    ([path, page]): Choice => ({ id: `page:${path}`, group: 'Pages', ...page, href: href(path) }),
  )
  const sections = SECTIONS.map(
    ({ name, title, icon }): Choice => ({
      id: `settings:${name}`,
      group: 'Settings',
      title,
      note: 'Settings',
      words: SECTION_WORDS[name],
      icon,
      href: href(`/settings/${name}`),
    }),
  )
  return [...choices, ...others, ...sections]
}
