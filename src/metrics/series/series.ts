/** Answers requests for one metric: the series of the requested and the previous range, and how certain they are. */
import type { MetricLimit } from '../../access/metric_limit.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import type { Organization } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Basis } from '../../money.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import { isMoney, type Kind, type Split, type Unit } from '../definitions/definition.ts'
import type { MetricName } from '../definitions/definitions.ts'
import type { JoinedMeasureDays, JoinedSums } from '../joined/tallies.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import type { Factors } from '../lineage/months.ts'
import type { Measure } from '../lineage/rows.ts'
import { type CountingSettings, PACIFIC } from '../lineage/settings.ts'
import type { Metrics, RebuildProgress } from '../metrics.ts'
import type { Reported } from '../reports/reported.ts'
import type { DaySumCache } from '../sums/day_sum_cache.ts'
import { openSums } from '../sums/sums.ts'
import type { Bucket, ReadTallies, Span, SumQuery } from '../sums/tallies.ts'
import { storedMeasure } from '../upkeep/generations.ts'
import { bucketsOf, comparedDays, cutsOf, daysIn, daysOfBucket, type Interval } from './buckets.ts'
import { excludedParts } from './excluded_parts.ts'
import { openFinality } from './finality.ts'
import { type Formula, lineOfStored, measuresOf } from './formula_lines.ts'
import { formulaOf, type Refunds } from './formulas.ts'
import { knowledgeOf } from './knowledge.ts'
import { type Series, type SeriesContext, seriesOf, viewsOf } from './points.ts'
import { readableDefinition, readableSeries } from './readable.ts'
import type { SeriesRequest } from './series_request.ts'
import { readSharedDays } from './shared_days.ts'
import { slicesOf, wholeOf } from './slices.ts'
import type { Lag, ReadSnapshot } from './snapshot_reads.ts'
import {
  cutoversIn,
  type MeasureCutover,
  proceedsKnown,
  type SourceRange,
  sourceRanges,
} from './source_ranges.ts'
import { openSumReader } from './sum_reader.ts'

/** How many points of a split are computed in one turn of the event loop. */
const POINTS_PER_TURN = 2_000

/** Apps of one organization, and the metrics to read. The time zone and base currency of the generation `shown` apply. */
export type SeriesScope = {
  organization: Organization
  apps: readonly App[]
  environment: Environment
  zone: SumQuery['zone']
  metrics: MetricLimit
  shown?: ReadSnapshot
}

export type SnapshotScope = SeriesScope & { shown: ReadSnapshot }

/** A request without its range. */
export type SeriesQuery = Pick<
  SeriesRequest,
  | 'name'
  | 'interval'
  | 'filters'
  | 'attribute'
  | 'split'
  | 'limit'
  | 'currency'
  | 'basis'
  | 'refunds'
  | 'view'
  | 'part'
> & { find?: string | null; with_empty_parts?: boolean }

/** `from_on`, `until_on`: the days of the points. `range`: exactly the requested or compared days. */
export type SeriesRange = {
  from_on: string
  until_on: string
  range: { from_on: string; until_on: string }
  series: Series[]
}

export type SeriesAnswer = SeriesRange & {
  metric: MetricName
  unit: Unit
  ratio_of: 'money' | 'count' | null
  kind: Kind
  organization_id: string
  apps: string[]
  environment: Environment
  time_zone: string
  today_on: string
  interval: Interval
  split: Split | null
  /** The currency of money; null for a metric without money. */
  currency: string | null
  basis: Basis
  /** The month length by which prices per day or week are converted to prices per month. */
  month_length: Factors
  view: string | null
  refunds: Refunds | null
  /** The source of each measure by range of days. Measures without an entry come from the ledger. */
  sources: SourceRange[]
  cutovers: MeasureCutover[]
  /** The range’s proceeds by certainty, in thousandths; null if the basis is not proceeds. */
  proceeds_known: Record<'exact' | 'ratio' | 'estimated', number> | null
  first_on: string | null
  rebuilding: RebuildProgress | null
  /** How far the figures lag behind the facts; null if they are current. */
  behind: Lag | null
  previous: SeriesRange | null
}

type Deps = {
  store: Store
  clock: Clock
  metrics: Pick<Metrics, 'withSnapshot' | 'progress' | 'generations'>
  settings: CountingSettings
  daySums: DaySumCache
  rates: Rates
  reported: Pick<Reported, 'readTallies' | 'ledgerOnlyIn' | 'knownFrom'>
}

export type SeriesReader = ReturnType<typeof openSeries>

export function openSeries({ store, clock, metrics, settings, daySums, rates, reported }: Deps) {
  const sums = openSums(store, daySums)
  const reader = openSumReader({ store, sums, reported })
  const finality = openFinality(store, rates)

  /** The calendar of a scope’s time zone. */
  function calendarOf({ organization, shown, zone }: SeriesScope) {
    const { time_zone } = shown?.generation ?? metrics.generations.shown(organization.id)
    return settings.calendarOf(zone === 'own' ? time_zone : PACIFIC)
  }

  /** The current day in the scope’s time zone. */
  const todayOf = (scope: SeriesScope): DayNumber => calendarOf(scope).dayOf(clock())

  /** Answers a request. Waits up to `max_wait_ms` for due figures; null: the configured wait. */
  const answer = (
    scope: SeriesScope,
    request: SeriesRequest,
    max_wait_ms: number | null = null,
  ): Promise<SeriesAnswer> => metrics.withSnapshot(scope, (one) => answerIn(one, request), max_wait_ms)

  async function answerIn(scope: SnapshotScope, request: SeriesRequest): Promise<SeriesAnswer> {
    const { definition, range, interval, basis, comparison } = request
    const buckets = bucketsOf(range, interval)
    await yieldToEventLoop()
    const { shown, from } = await seriesIn(scope, request, buckets, range)
    const before = comparison && comparedDays(range, interval, comparison)
    if (before) await yieldToEventLoop()
    const previous = before && (await seriesIn(scope, request, bucketsOf(before, interval), before)).shown
    const first = sums.firstDay(sumQueryOf(scope, request, buckets))
    const { unit, ratio_of, kind } = definition
    return {
      metric: request.name,
      unit,
      ratio_of,
      kind,
      organization_id: scope.organization.id,
      apps: scope.apps.map(({ id }) => id),
      environment: scope.environment,
      time_zone: calendarOf(scope).zone,
      today_on: dayText(todayOf(scope)),
      interval,
      split: request.split,
      currency: isMoney(definition) ? (request.currency ?? scope.organization.currency) : null,
      basis,
      month_length: scope.shown.generation.factors,
      view: request.view,
      refunds: definition.has_refund_days ? request.refunds : null,
      sources: sourceRanges(from, buckets),
      cutovers: cutoversIn(from),
      proceeds_known: basis === 'proceeds' ? proceedsKnown(from, range) : null,
      first_on: first === null ? null : dayText(first),
      rebuilding: metrics.progress(),
      behind: scope.shown.behind,
      ...shown,
      previous,
    }
  }

  /**
   * Reads the series of some buckets and of the days `range`, by default all of the buckets, and the source of each day.
   *
   * @throws Refusal 403 `metric_not_shared`.
   */
  async function seriesIn(
    scope: SnapshotScope,
    query: SeriesQuery,
    buckets: readonly Bucket[],
    range: Bucket = daysIn(buckets),
  ): Promise<{ shown: SeriesRange; from: JoinedMeasureDays[] }> {
    const definition = readableDefinition(scope.metrics, query.name)
    const { lines, levels, of_ledger = false, of_shared_days = false } = formulaFor(query, scope)
    const today = todayOf(scope)
    const cuts = cutsOf(buckets, range, today)
    const sumQuery = sumQueryOf(scope, query, cuts.parts)
    const options = { basis: query.basis, of_money: isMoney(definition), of_ledger }
    const { from, ...sumsFound } = of_shared_days
      ? await readSharedDays(sumQuery, (one) => reader.read(one, options))
      : await reader.read(sumQuery, options)
    const isProvisional = isMoney(definition) ? provisionalOf(scope, sumQuery, definition.kind) : () => false
    const { interval } = query
    const isBehind = scope.shown.isIncomplete
    const context: SeriesContext = {
      definition,
      lines,
      levels,
      with_empty_parts: query.with_empty_parts ?? isPartRequested(query),
      views: viewsOf(cuts, knowledgeOf(from, definition.kind), { today, interval, isProvisional, isBehind }),
      isByApp: query.split === 'app',
    }
    const series =
      query.split === null
        ? await wholeSeries(scope, sums.read, [query, sumQuery], { ...sumsFound, context })
        : await splitSeries(scope, query, { ...sumsFound, context, range: cuts.range })
    return { shown: { ...daysOfBucket(daysIn(buckets)), range: daysOfBucket(range), series }, from }
  }

  function provisionalOf(scope: SeriesScope, sumQuery: SumQuery, kind: Kind) {
    if (sumQuery.currency !== null) return () => false
    return finality.provisionalIn(reader.currencies(sumQuery), scope.organization.currency, kind)
  }

  const { withSnapshot } = metrics
  return { answer, withSnapshot, seriesIn, todayOf, calendarOf, read: sums.read, close: reader.close }
}

/** Whether one part is requested by name. Such a part is included even if it is zero. */
const isPartRequested = ({ part }: SeriesQuery): boolean => part !== null

/** The requested lines of the metric’s formula; a single line if a part or a split is requested. */
function formulaFor(query: SeriesQuery, { shown }: Pick<SnapshotScope, 'shown'>): Formula {
  const { lines, ...formula } = formulaOf(query.name, query)
  const isSingleLine = query.part !== null || query.split !== null
  const requested = isSingleLine ? lines.filter(({ part }) => part === query.part) : lines
  const storedOf = (measure: Measure) => storedMeasure(measure, shown.generation)
  return { ...formula, lines: requested.map((line) => lineOfStored(line, storedOf)) }
}

function sumQueryOf(
  { apps, environment, zone, shown }: SnapshotScope,
  query: SeriesQuery,
  buckets: readonly Bucket[],
): SumQuery {
  const { lines, levels } = formulaFor(query, { shown })
  const { filters, attribute, split, currency } = query
  return {
    shown: shown.generation,
    apps: apps.map(({ id }) => id),
    environment,
    zone,
    measures: measuresOf(lines),
    levels,
    buckets,
    filters,
    attribute,
    split,
    currency,
  }
}

type Found = Omit<JoinedSums, 'from'> & { context: SeriesContext }

/** The total and its parts. */
async function wholeSeries(
  { metrics }: SnapshotScope,
  read: ReadTallies,
  [query, sumQuery]: [SeriesQuery, SumQuery],
  { tallies, unconverted, context }: Found,
): Promise<Series[]> {
  const whole = readableSeries(metrics, seriesOf(wholeOf(tallies, unconverted), context))
  return [...whole, ...(await excludedParts(read, sumQuery, query, context))]
}

/** One series for each value of a split. */
async function splitSeries(
  scope: SnapshotScope,
  query: SeriesQuery,
  {
    tallies,
    unconverted,
    context,
    range,
  }: Omit<JoinedSums, 'from'> & { context: SeriesContext; range: Span },
): Promise<Series[]> {
  const points = context.views.wholes.spans.length
  const byValue: Series[] = []
  for (const [index, slice] of slicesOf(tallies, unconverted, { ...query, ...context, range }).entries()) {
    if ((index * points) % POINTS_PER_TURN < points) await yieldToEventLoop()
    byValue.push(...readableSeries(scope.metrics, seriesOf(slice, context)))
  }
  if (query.split !== 'app') return byValue
  const bundleId = (id: string | null) => scope.apps.find((one) => one.id === id)?.bundle_id ?? id
  return byValue.map((one) => ({ ...one, value: bundleId(one.value) }))
}
