/** What we compute: which days of a series are from Apple's reports, and how much of them is there. */
import { type DayNumber, dayText } from './calendar.ts'
import type { Kind } from './definition.ts'
import type { JoinedFrom } from './reported/joined_tallies.ts'
import type { Bucket } from './tallies.ts'

/**
 * Days of one source. reports: Apple's own figures. anchored: Apple's at the last day there is, and what the ledger saw
 * since.
 */
export type SourceStretch = {
  app_id: string
  measure: string
  source: 'reports' | 'anchored' | 'ledger'
  from_on: string
  until_on: string
}

/** From which instant on a measure is from the ledger alone; `on` is the Pacific day that begins then. */
export type SeamOfMeasure = { app_id: string; measure: string; on: string; at: number }

/** Each measure's days, those of one source and one after another together. */
export function sourcesIn(from: readonly JoinedFrom[], buckets: readonly Bucket[]): SourceStretch[] {
  const first = buckets[0]?.from ?? 0
  return from.flatMap(({ app_id, measure, days }) =>
    stretchesOf(days.filter(({ day, is_known }) => day >= first && is_known)).map(
      ({ source, from: on, until }) => ({
        ...{ app_id, measure, source },
        ...{ from_on: dayText(on), until_on: dayText(until) },
      }),
    ),
  )
}

type Stretch = Pick<SourceStretch, 'source'> & { from: DayNumber; until: DayNumber }

function stretchesOf(days: JoinedFrom['days']): Stretch[] {
  const stretches: Stretch[] = []
  for (const { day, source } of days) {
    const last = stretches.at(-1)
    if (last?.source === source && last.until === day - 1) last.until = day
    else stretches.push({ source, from: day, until: day })
  }
  return stretches
}

export const seamsIn = (from: readonly JoinedFrom[]): SeamOfMeasure[] =>
  from.flatMap(({ app_id, measure, seam }) =>
    seam ? [{ app_id, measure, on: dayText(seam.day), at: seam.at }] : [],
  )

/** How much of the proceeds is known how surely. */
export function proceedsKnown(from: readonly JoinedFrom[]): Record<'exact' | 'ratio' | 'estimated', number> {
  const known = { exact: 0, ratio: 0, estimated: 0 }
  for (const { basis } of from) {
    known.exact += basis.exact
    known.ratio += basis.ratio
    known.estimated += basis.estimated
  }
  return known
}

/** Whether a part of a bucket is missing: of a level at its last day, of a flow on any. */
export function missingIn(from: readonly JoinedFrom[], kind: Kind): (bucket: Bucket) => boolean {
  const days = from.flatMap((one) => one.days)
  const missing = new Set(days.filter((one) => !one.is_known || !one.is_complete).map(({ day }) => day))
  if (missing.size === 0) return () => false
  const last: DayNumber = days.at(-1)?.day ?? 0
  return ({ from: first, until }) => {
    if (kind === 'level') return missing.has(Math.min(until, last))
    for (let day = first; day <= until; day += 1) if (missing.has(day)) return true
    return false
  }
}
