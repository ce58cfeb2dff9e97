/** Lists the source of each range of days of a series, and how Apple’s figures differ from the ledger’s. */
import { daysOf, isLevel, isLoss } from '../joined/days.ts'
import type { JoinedMeasureDays } from '../joined/tallies.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import { CERTAINTIES, type ProceedsCertainty } from '../lineage/proceeds.ts'
import type { Measure } from '../lineage/rows.ts'
import type { Bucket } from '../sums/tallies.ts'

/**
 * Consecutive days from one source. reports: Apple’s figures. anchored: the newest report’s value plus the ledger’s
 * changes since. `rate`: whether money is converted at the rate of each day or of each charge; null without money.
 * `label` and `note`: how Apple’s figure differs from the ledger’s; null if they do not differ.
 */
export type SourceRange = {
  app_id: string
  measure: string
  source: 'reports' | 'anchored' | 'ledger'
  from_on: string
  until_on: string
  rate: 'day' | 'charge' | null
  label: string | null
  note: string | null
}

type SourceLabel = Pick<SourceRange, 'label' | 'note'>

const LOSSES: SourceLabel = {
  label: 'Apple’s count',
  note: 'Cancellations in Apple’s reports, at the end of the paid time, less reactivations. A failed payment counts when Apple stops retrying, up to 60 days later. A refund does not count.',
}
const TRIALS: SourceLabel = {
  label: 'Apple’s count',
  note: 'Conversions and cancellations in Apple’s reports. A trial whose payment fails ends when Apple stops retrying.',
}
const CHARGES: SourceLabel = {
  label: 'Apple’s New and Renewal',
  note: 'Apple may count an upgrade, a resubscription or a reversed refund as New. It counts the first payment after a trial as a Renewal.',
}
const REFUNDS: SourceLabel = {
  label: 'Apple’s refunds',
  note: 'Partial refunds are included in the amounts returned at upgrades.',
}
const NO_LABEL: SourceLabel = { label: null, note: null }

/** How Apple’s figure of a measure differs from the ledger’s. */
function sourceLabel(measure: Measure, source: SourceRange['source']): SourceLabel {
  if (source !== 'reports') return NO_LABEL
  if (isLoss(measure)) return LOSSES
  if (/^(trial\.(won|ended)|paid\.(direct|after_trial))$/.test(measure)) return TRIALS
  if (measure === 'revenue.new' || measure === 'revenue.renewal') return CHARGES
  return /^revenue\.(refund|proration)/.test(measure) ? REFUNDS : NO_LABEL
}

function rateOf(measure: Measure, source: SourceRange['source']): SourceRange['rate'] {
  if (!/^(mrr|revenue|risk)/.test(measure)) return null
  return source === 'ledger' ? 'charge' : 'day'
}

/** From the instant `at`, the source `to` provides a measure. `on` is the Pacific day that begins then. */
export type MeasureCutover = {
  app_id: string
  measure: string
  on: string
  at: number
  to: 'ledger' | 'reports'
}

/** The ranges of each measure of apps in reports. Consecutive days from one source are merged. */
export function sourceRanges(from: readonly JoinedMeasureDays[], buckets: readonly Bucket[]): SourceRange[] {
  const first = buckets[0]?.from ?? 0
  const inReports = from.filter(({ is_alone }) => !is_alone)
  return inReports.flatMap(({ app_id, measure, days }) =>
    rangesOf(days.filter(({ day, is_known }) => day >= first && is_known)).map(
      ({ source, from: on, until }) => ({
        app_id,
        measure,
        source,
        from_on: dayText(on),
        until_on: dayText(until),
        rate: rateOf(measure, source),
        ...sourceLabel(measure, source),
      }),
    ),
  )
}

type DayRange = Pick<SourceRange, 'source'> & { from: DayNumber; until: DayNumber }

function rangesOf(days: JoinedMeasureDays['days']): DayRange[] {
  const ranges: DayRange[] = []
  for (const { day, source } of days) {
    const last = ranges.at(-1)
    if (last?.source === source && last.until === day - 1) last.until = day
    else ranges.push({ source, from: day, until: day })
  }
  return ranges
}

export const cutoversIn = (from: readonly JoinedMeasureDays[]): MeasureCutover[] =>
  from.flatMap(({ app_id, measure, joins }) =>
    joins.map(({ day, at, to }) => ({ app_id, measure, on: dayText(day), at, to })),
  )

/** Sums the proceeds of the days of a range by certainty, less what was given back; of a level, those at its end. */
export function proceedsKnown(
  from: readonly JoinedMeasureDays[],
  range: Bucket,
): Record<ProceedsCertainty, number> {
  const known = { exact: 0, ratio: 0, estimated: 0 }
  for (const { measure, basis } of from) {
    const sign = /^revenue\.(refund|proration)/.test(measure) ? -1 : 1
    const days = daysOf(isLevel(measure) ? { ...range, from: range.until } : range)
    for (const certainty of CERTAINTIES) {
      const amountOn = basis(certainty)
      for (const day of days) known[certainty] += sign * amountOn(day).milli
    }
  }
  return known
}
