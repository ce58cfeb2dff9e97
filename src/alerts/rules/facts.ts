/** What rules about figures read and find. */
import type { DayNumber } from '../../metrics/lineage/calendar.ts'
import type { Figures } from '../messages/content.ts'

/**
 * A fact that a rule reports once. `key` is unique within the rule. `onWritten` runs in the commit that writes the message, so
 * that a crash loses neither.
 */
export type Fact = { key: string; facts: Figures; onWritten?: () => void }

/**
 * Days of a metric, oldest first; the last is today. An unknown figure is null. `first`: the first known day with data, or
 * later. `basis` changes with what makes figures incomparable.
 */
export type Reading = Readonly<{
  today: DayNumber
  apps: readonly string[]
  first: DayNumber | null
  currency: string
  isCurrent: boolean
  days: readonly Readonly<{ on: string; milli: number | null; count: number | null }>[]
  basis: string
}>
