/** What we compute: which points nobody can tell, because neither Apple's reports nor the ledger reach there. */
import type { DayNumber } from './calendar.ts'
import type { Kind } from './definition.ts'
import type { JoinedFrom } from './reported/joined_tallies.ts'
import { isLevel } from './reported/joining.ts'
import type { Measure } from './rows.ts'
import type { Bucket } from './tallies.ts'

/** Whether a bucket's figures, made of some measures, are known to nobody: a gap, and no zero. */
type IsUnknown = (measures: readonly Measure[], bucket: Bucket) => boolean

/** Days of one app of which a measure is known. */
type KnownDays = ReadonlySet<DayNumber>

/**
 * A figure is known where each measure that it is made of is, of every app: what one app is known to have is no sum of
 * two. Of a flow some days are enough, and it is not complete; a change is known where what it changed from is.
 */
export function unknownIn(from: readonly JoinedFrom[], kind: Kind): IsUnknown {
  if (from.every(({ days }) => days.every(({ is_known }) => is_known))) return () => false
  const last = Math.max(...from.map(({ days }) => days.at(-1)?.day ?? 0))
  const known = new Map<Measure, KnownDays[]>()
  for (const { measure, days } of from) {
    const own = new Set(days.filter(({ is_known }) => is_known).map(({ day }) => day))
    known.set(measure, [...(known.get(measure) ?? []), own])
  }
  const isUnknown = (measure: Measure, { from: first, until }: Bucket): boolean =>
    (known.get(measure) ?? []).some((days) => {
      if (kind === 'level') return !days.has(Math.min(until, last))
      return isLevel(measure) ? !days.has(first - 1) : !hasAny(days, first, Math.min(until, last))
    })
  return (measures, bucket) => measures.some((measure) => isUnknown(measure, bucket))
}

function hasAny(days: KnownDays, first: DayNumber, end: DayNumber): boolean {
  for (let day = first; day <= end; day += 1) if (days.has(day)) return true
  return false
}
