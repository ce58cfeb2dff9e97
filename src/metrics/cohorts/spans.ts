/** Divides a range of days into cohorts: days, weeks, months or years. */
import type { MetricLimit } from '../../access/metric_limit.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { Cutovers } from '../joined/cutovers.ts'
import { ALWAYS } from '../joined/days.ts'
import { type DayNumber, dayText, monthOf, weekOf } from '../lineage/calendar.ts'
import type { ReasonRange } from '../series/reasons.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { CohortScope } from './cells.ts'

/** How many days of cohorts are computed in one turn of the event loop. */
const BATCH_DAYS = 31

export const GRAINS = ['day', 'week', 'month', 'year'] as const
export type Grain = (typeof GRAINS)[number]

/**
 * Days of `time_zone`, from `from` through `until`. `product_id` and `storefront`: `*` for any. `metrics`: what the reader
 * may read.
 */
export type CohortQuery = {
  scopes: readonly CohortScope[]
  time_zone: string
  grain: Grain
  product_id: string
  storefront: string
  from: DayNumber
  until: DayNumber
  metrics: MetricLimit
}

/** A cohort: its first day, and its range of days. */
export type Span = { cohort: string; from: DayNumber; until: DayNumber }

/** Returns the function that finds the scopes of some apps, with the days on which they were observed. */
export const openScopes =
  (observedFrom: Cutovers['observedFrom']) =>
  (
    apps: readonly App[],
    environment: Environment,
    shown: Pick<Generation, 'id' | 'time_zone'>,
  ): CohortScope[] =>
    apps.map((app) => ({
      generation: shown.id,
      app_id: app.id,
      environment,
      observed: observedFrom({ app, environment, shown, zone: 'own' }),
    }))

/** The days of the cohorts of a range before any and all notifications of an app are known. */
export function unobservedIn({ scopes, grain, until, ...query }: CohortQuery): ReasonRange[] {
  const from = startOf(grain, query.from)
  const ranges = scopes.flatMap(({ observed = ALWAYS }): ReasonRange[] => {
    if (from >= observed.all) return []
    const reason = observed.any === Infinity ? 'never_heard' : 'before_ledger'
    return [{ reason, from_on: dayText(from), until_on: dayText(Math.min(until, observed.all - 1)) }]
  })
  return [...new Map(ranges.map((range) => [JSON.stringify(range), range])).values()]
}

/** Whether all notifications of every app are known from a day on. */
export const isObserved = ({ scopes }: Pick<CohortQuery, 'scopes'>, from: DayNumber): boolean =>
  scopes.every(({ observed }) => observed === undefined || from >= observed.all)

/** The whole cohorts that overlap a request’s range and have begun. */
export function spansOf({ grain, from, until }: CohortQuery, today: DayNumber): Span[] {
  const spans: Span[] = []
  const last = Math.min(until, today)
  for (let begin = startOf(grain, from); begin <= last; begin = endOf(grain, begin) + 1) {
    spans.push({ cohort: dayText(begin), from: begin, until: endOf(grain, begin) })
  }
  return spans
}

/** Yields the cohorts of `spansOf` in order, in batches. Each batch is one turn of the event loop. */
export async function* spanBatches(query: CohortQuery, today: DayNumber): AsyncGenerator<Span[], void> {
  let batch: Span[] = []
  for (const span of spansOf(query, today)) {
    batch.push(span)
    if (span.until - (batch[0]?.from ?? 0) < BATCH_DAYS) continue
    await yieldToEventLoop()
    yield batch
    batch = []
  }
  await yieldToEventLoop()
  if (batch.length > 0) yield batch
}

/** The days of consecutive cohorts, through today. */
export const daysOf = (spans: readonly Span[], today: DayNumber) => ({
  from: spans[0]?.from ?? today + 1,
  until: Math.min(today, spans.at(-1)?.until ?? today),
})

export const GRAIN_INDEX = { day: (day: DayNumber) => day, week: weekOf, month: monthOf }
export const GRAIN_START = {
  day: (day: number): DayNumber => day,
  // Weeks begin on Monday; 1970 began on a Thursday.
  week: (week: number): DayNumber => week * 7 - 3,
  month: (month: number): DayNumber => Date.UTC(1970, month, 1) / 86_400_000,
}

/** The first day of the cohort that contains a day. */
export function startOf(grain: Grain, day: DayNumber): DayNumber {
  if (grain === 'day') return day
  if (grain === 'week') return GRAIN_START.week(weekOf(day))
  const month = monthOf(day)
  return GRAIN_START.month(grain === 'month' ? month : month - (month % 12))
}

/** The last day of the cohort that begins on a day. */
export function endOf(grain: Grain, begin: DayNumber): DayNumber {
  if (grain === 'day') return begin
  if (grain === 'week') return begin + 6
  return GRAIN_START.month(monthOf(begin) + (grain === 'month' ? 1 : 12)) - 1
}
