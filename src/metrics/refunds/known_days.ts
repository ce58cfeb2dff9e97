/** Tells on which days the refunds of apps are known. Only the ledger has single refunds. */
import { daysOf } from '../joined/days.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { Reported } from '../reports/reported.ts'
import { knowledgeOf } from '../series/knowledge.ts'
import { type Reason, type ReasonRange, reasonRanges } from '../series/reasons.ts'
import type { SeriesScope } from '../series/series.ts'
import type { Bucket } from '../sums/tallies.ts'
import type { Generation } from '../upkeep/generations.ts'

const REFUNDS: readonly Measure[] = ['revenue.refund']

/**
 * `isKnown`: whether any day is. `isKnownOn`: whether the refunds of an app on a day are. `reasons`: why days are unknown or
 * incomplete.
 */
export type KnownRefunds = {
  isKnown: boolean
  isKnownOn: (app_id: string, day: DayNumber) => boolean
  complete: boolean
  reasons: ReasonRange[]
}

/** Returns the function that tells which days of a range are known, as for the refunds in revenue from the ledger. */
export const openKnownDays =
  ({ ledgerOnlyIn }: Pick<Reported, 'ledgerOnlyIn'>) =>
  (
    { apps, environment, zone }: SeriesScope,
    shown: Generation,
    days: Bucket,
    today: DayNumber,
  ): KnownRefunds => {
    const common = {
      levels: [],
      filters: {},
      attribute: null,
      split: null,
      currency: null,
      environment,
      zone,
    }
    const ids = apps.map(({ id }) => id)
    const from = ledgerOnlyIn({ ...common, shown, apps: ids, measures: REFUNDS, buckets: [days] })
    const knowledgeIn = knowledgeOf(from, 'flow')
    const buckets = daysOf(days).map((day) => ({ from: day, until: day }))
    const byDay = knowledgeIn(buckets)
    const known = byDay.knownOf(REFUNDS, null)
    const reasons = buckets.map(({ until }, at): Reason[] => [
      ...(known === null || known[at] === 'all' ? [] : byDay.reasonsOf([REFUNDS, null], at)),
      ...(until < today ? [] : (['unfinished'] as const)),
    ])
    const unknownDays = new Map(
      from.map((one) => [
        one.app_id,
        new Set(one.days.flatMap(({ day, is_known }) => (is_known ? [] : day))),
      ]),
    )
    return {
      isKnown: knowledgeIn([days]).knownOf(REFUNDS, null)?.[0] !== 'none',
      isKnownOn: (app_id, day) => unknownDays.get(app_id)?.has(day) !== true,
      complete: reasons.every((some) => some.length === 0),
      reasons: reasonRanges(buckets, reasons),
    }
  }
