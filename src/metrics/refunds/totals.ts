/** Sums the refunds of a range of days, without those on days that are not known. */
import type { Clock } from '../../clock.ts'
import { type CountingSettings, PACIFIC } from '../lineage/settings.ts'
import type { Reported } from '../reports/reported.ts'
import type { SeriesScope } from '../series/series.ts'
import type { Bucket } from '../sums/tallies.ts'
import type { Generations } from '../upkeep/generations.ts'
import { type KnownRefunds, openKnownDays } from './known_days.ts'
import type { RefundRow } from './refund_rows.ts'

/** The sum of refunds less reversals. `reversed`: how many reversals. `unpriced`: refunds whose amount is unknown. */
type RefundTotals = {
  count: number
  reversed: number
  base_milli: number
  proceeds_milli: number
  mrr_milli: number
  unpriced: number
}

/** The totals of a range; null if none of its days is known. Refunds on unknown days do not count. */
type KnownTotals = Pick<KnownRefunds, 'complete' | 'reasons'> & {
  totals: RefundTotals | null
  by: <Field extends 'reason' | 'product_id'>(field: Field) => (RefundTotals & { value: RefundRow[Field] })[]
}

type Deps = {
  clock: Clock
  generations: Generations
  settings: CountingSettings
  reported: Pick<Reported, 'ledgerOnlyIn'>
}

/** Returns the function that sums refunds. */
export function openRefundTotals({ clock, generations, settings, reported }: Deps) {
  const knownDaysIn = openKnownDays(reported)
  const calendarIn = ({ organization, zone }: SeriesScope) =>
    settings.calendarOf(zone === 'pacific' ? PACIFIC : generations.shown(organization.id).time_zone)

  /** Sums the refunds of a range of days that are known. */
  return function totalsIn(scope: SeriesScope, days: Bucket, rows: readonly RefundRow[]): KnownTotals {
    const calendar = calendarIn(scope)
    const shown = generations.shown(scope.organization.id)
    const { isKnown, isKnownOn, ...known } = knownDaysIn(scope, shown, days, calendar.dayOf(clock()))
    const counted = rows.filter(({ app_id, at }) => isKnownOn(app_id, calendar.dayOf(at)))
    return { ...known, totals: isKnown ? totalsOf(counted) : null, by: (field) => totalsBy(counted, field) }
  }
}

/** Sums refunds less reversals. */
function totalsOf(rows: readonly RefundRow[]): RefundTotals {
  const sumOf = (field: 'base_milli' | 'proceeds_milli' | 'mrr_milli') =>
    rows.reduce((sum, row) => sum + (row[field] ?? 0), 0)
  return {
    count: rows.reduce((count, { kind }) => count + (kind === 'refund' ? 1 : -1), 0),
    reversed: rows.filter(({ kind }) => kind === 'reversal').length,
    base_milli: sumOf('base_milli'),
    proceeds_milli: sumOf('proceeds_milli'),
    mrr_milli: sumOf('mrr_milli'),
    unpriced: rows.filter(({ base_milli }) => base_milli === null).length,
  }
}

/** The totals of each value of a field, the greatest amount first. */
const totalsBy = <Field extends 'reason' | 'product_id'>(rows: readonly RefundRow[], field: Field) =>
  [...Map.groupBy(rows, (row) => row[field])]
    .map(([value, own]) => ({ value, ...totalsOf(own) }))
    .sort((a, b) => b.base_milli - a.base_milli || b.count - a.count || (a.value < b.value ? -1 : 1))
