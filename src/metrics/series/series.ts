/** What we compute: the answer to a question about a metric: its series, those before them, and how sure they are. */
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import type { Organization } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Basis } from '../../money.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Store } from '../../store/store.ts'
import { nextTurn } from '../../turns.ts'
import { isMoney, type Kind, type Split, type Unit } from '../definitions/definition.ts'
import { DEFINITIONS, type MetricName } from '../definitions/definitions.ts'
import type { JoinedFrom } from '../joined/tallies.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import type { Factors } from '../lineage/months.ts'
import { type CountingSettings, PACIFIC } from '../lineage/settings.ts'
import type { Metrics, RebuildProgress } from '../metrics.ts'
import { SUMMED_KINDS } from '../reports/cells.ts'
import type { Reported } from '../reports/reported.ts'
import { openReportedSums } from '../reports/sums.ts'
import type { DayLines } from '../sums/day_sum_cache.ts'
import { openRowReading } from '../sums/row_sums.ts'
import { openRowThread } from '../sums/row_thread.ts'
import { openSums } from '../sums/sums.ts'
import type { Bucket, Reading, Tallies, Unconverted } from '../sums/tallies.ts'
import { asideOf } from './aside.ts'
import { bucketsBefore, daysOfBucket, type Interval } from './buckets.ts'
import { openFinality } from './finality.ts'
import { type Formula, measuresOf } from './formula_lines.ts'
import { formulaOf, type Refunds } from './formulas.ts'
import { bucketsDrawn, type Drawing, type Series, seriesOf, slicesOf, wholeOf } from './points.ts'
import type { Question } from './question.ts'
import type { Behind, Shown } from './questions.ts'
import { readSharedDays } from './shared_days.ts'
import { proceedsKnown, type SeamOfMeasure, type SourceStretch, seamsIn, sourcesIn } from './sources.ts'
import { knowledgeOf } from './unknown.ts'

/** Points of a split drawn in one turn of the event loop. */
const POINTS_AT_ONCE = 2_000

/**
 * Whose figures: apps of one organization. There is at least one app. `shown`: the generation that is being read, by which
 * the organization's currency and time zone are those of its figures.
 */
export type Scope = {
  organization: Organization
  apps: readonly App[]
  environment: Environment
  zone: Reading['zone']
  shown?: Shown
}

/** A scope of which one generation is read. */
export type ShownScope = Scope & { shown: Shown }

/** What is asked for a stretch of days. */
export type Ask = Pick<
  Question,
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
> & { with_empty_parts?: boolean }

export type Stretch = { from_on: string; until_on: string; series: Series[] }

export type SeriesAnswer = Stretch & {
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
  /** What money is in; null where there is none. */
  currency: string | null
  basis: Basis
  /** By which length of a month prices of days and weeks are made monthly. */
  month_length: Factors
  view: string | null
  refunds: Refunds | null
  /** Stretches that reports tell of, alone or with the ledger; where there is none, the ledger alone. */
  sources: SourceStretch[]
  seams: SeamOfMeasure[]
  /** Of proceeds: how much is known how surely, in thousandths. */
  proceeds_known: Record<'exact' | 'ratio' | 'estimated', number> | null
  first_on: string | null
  rebuilding: RebuildProgress | null
  /** How far the figures are behind the facts; null where they are not. */
  behind: Behind | null
  previous: Stretch | null
}

type Deps = {
  store: Store
  clock: Clock
  metrics: Pick<Metrics, 'reading' | 'progress' | 'generations'>
  settings: CountingSettings
  lines: DayLines
  rates: Rates
  reported: Pick<Reported, 'readTallies' | 'heardIn'>
}

export type SeriesOf = ReturnType<typeof openSeries>

export function openSeries({ store, clock, metrics, settings, lines, rates, reported }: Deps) {
  const sums = openSums(store, lines)
  const rows = openRowReading(store)
  const thread = openRowThread(store.file)
  const finality = openFinality(store, rates)
  const reportedSums = openReportedSums(store)
  const isReportedIn =
    ({ shown }: Pick<Reading, 'shown'>) =>
    (app_id: string): boolean =>
      SUMMED_KINDS.some((kind) => reportedSums.isReported({ generation: shown.id, app_id }, kind))

  /** The calendar of a scope. */
  function calendarOf({ organization, shown, zone }: Scope) {
    const { time_zone } = shown?.generation ?? metrics.generations.shown(organization.id)
    return settings.calendarOf(zone === 'own' ? time_zone : PACIFIC)
  }

  /** The day it is now, in the scope's time zone. */
  const todayOf = (scope: Scope): DayNumber => calendarOf(scope).dayOf(clock())

  /** The answer to a question. It waits up to `patience_ms` for figures that are due, or a little (null). */
  const answer = (
    scope: Scope,
    question: Question,
    patience_ms: number | null = null,
  ): Promise<SeriesAnswer> => metrics.reading(scope, (one) => answerIn(one, question), patience_ms)

  async function answerIn(scope: ShownScope, question: Question): Promise<SeriesAnswer> {
    const { definition, buckets, interval, basis } = question
    await nextTurn()
    const { series, from } = await seriesIn(scope, question, buckets)
    const before = question.with_previous ? bucketsBefore(buckets, interval) : null
    if (before) await nextTurn()
    const first = sums.firstDay(readingOf(scope, question, buckets))
    const { unit, ratio_of, kind } = definition
    return {
      metric: question.name,
      unit,
      ratio_of,
      kind,
      organization_id: scope.organization.id,
      apps: scope.apps.map(({ id }) => id),
      environment: scope.environment,
      time_zone: calendarOf(scope).zone,
      today_on: dayText(todayOf(scope)),
      interval,
      split: question.split,
      currency: isMoney(definition) ? (question.currency ?? scope.organization.currency) : null,
      basis,
      month_length: scope.shown.generation.factors,
      view: question.view,
      refunds: definition.has_refund_days ? question.refunds : null,
      sources: sourcesIn(from, buckets),
      seams: seamsIn(from),
      proceeds_known: basis === 'proceeds' ? proceedsKnown(from) : null,
      first_on: first === null ? null : dayText(first),
      rebuilding: metrics.progress(),
      behind: scope.shown.behind,
      ...stretchOf(buckets, series),
      previous: before && stretchOf(before, (await seriesIn(scope, question, before)).series),
    }
  }

  /** The series of a stretch of days, whatever their length, and what they are joined from. */
  async function seriesIn(
    scope: ShownScope,
    ask: Ask,
    buckets: readonly Bucket[],
  ): Promise<{ series: Series[]; from: JoinedFrom[] }> {
    const definition = DEFINITIONS[ask.name]
    const { lines, levels, of_ledger = false, of_shared_days = false } = asked(ask)
    const reading = readingOf(scope, ask, buckets)
    const wanted = { basis: ask.basis, of_money: isMoney(definition), of_ledger }
    const { tallies, unconverted, from } = of_shared_days
      ? await readSharedDays(reading, (one) => read(one, wanted))
      : await read(reading, wanted)
    const isProvisional = isMoney(definition) ? provisionalOf(scope, reading, definition.kind) : () => false
    const drawing: Drawing = {
      definition,
      lines,
      levels,
      with_empty_parts: ask.with_empty_parts ?? isOnePart(ask),
      buckets: bucketsDrawn(buckets, {
        today: todayOf(scope),
        interval: ask.interval,
        isProvisional: (bucket) => scope.shown.is_incomplete || isProvisional(bucket),
      }),
      knownOf: knowledgeOf(from, definition.kind, buckets),
      of_apps: ask.split === 'app',
    }
    if (ask.split === null) {
      const whole = seriesOf(wholeOf(tallies, unconverted), drawing)
      return { series: [...whole, ...(await asideOf(sums.read, reading, ask, drawing))], from }
    }
    const slices = slicesOf(tallies, unconverted, { definition, lines, levels, limit: ask.limit })
    const named: Series[] = []
    for (const [index, slice] of slices.entries()) {
      if ((index * buckets.length) % POINTS_AT_ONCE < buckets.length) await nextTurn()
      named.push(...seriesOf(slice, drawing))
    }
    return { series: ask.split === 'app' ? named.map((one) => withBundleId(scope, one)) : named, from }
  }

  type Sums = { tallies: Tallies; unconverted: Unconverted; from: JoinedFrom[] }

  type Wanted = { basis: Basis; of_money: boolean; of_ledger: boolean }

  async function read(reading: Reading, { basis, of_money, of_ledger }: Wanted): Promise<Sums> {
    if (reading.attribute !== null) {
      const own = await thread.ofAttribute(reading)
      return { ...own, ...(!of_money && { unconverted: new Map() }), from: reported.heardIn(reading) }
    }
    const isReportedHere = reading.environment === 'production' && reading.apps.some(isReportedIn(reading))
    const isJoined = basis === 'proceeds' || isReportedHere || reading.measures.includes('downloads')
    const { tallies, from } =
      isJoined && !of_ledger
        ? await reported.readTallies(reading, sums.read, { basis, of_money })
        : { tallies: await sums.read(reading), from: reported.heardIn(reading) }
    return { tallies, unconverted: of_money ? await leftOut(reading) : new Map(), from }
  }

  /** What no rate is known for. Only the whole is kept summed; the rest is in the rows that wait for a rate. */
  async function leftOut(reading: Reading): Promise<Unconverted> {
    if (reading.currency !== null) return new Map()
    const whole = sums.unconverted(reading)
    const isWhole =
      reading.split === null && reading.zone === 'own' && Object.keys(reading.filters).length === 0
    return whole.size === 0 || isWhole ? whole : rows.unconverted(reading)
  }

  function provisionalOf(scope: Scope, reading: Reading, kind: Kind) {
    if (reading.currency !== null) return () => false
    return finality.provisionalIn(sums.currencies(reading), scope.organization.currency, kind)
  }

  const { reading } = metrics
  return { answer, reading, seriesIn, todayOf, calendarOf, read: sums.read, close: thread.close }
}

/** What is asked for by name is told, even if it is nothing. */
const isOnePart = ({ part, split }: Ask): boolean => part !== null && split === null

/** The lines that are asked for, of a split one alone, and what they need from before. */
function asked(ask: Ask): Formula {
  const { lines, ...formula } = formulaOf(ask.name, ask)
  const isOne = ask.part !== null || ask.split !== null
  return { ...formula, lines: isOne ? lines.filter(({ part }) => part === ask.part) : lines }
}

function readingOf(
  { apps, environment, zone, shown }: ShownScope,
  ask: Ask,
  buckets: readonly Bucket[],
): Reading {
  const { lines, levels } = asked(ask)
  const { filters, attribute, split, currency } = ask
  const ids = apps.map(({ id }) => id)
  const measures = measuresOf(lines)
  return {
    shown: shown.generation,
    apps: ids,
    environment,
    zone,
    measures,
    levels,
    buckets,
    filters,
    attribute,
    split,
    currency,
  }
}

const stretchOf = (buckets: readonly Bucket[], series: Series[]): Stretch => {
  const [first, last] = [buckets[0], buckets.at(-1)]
  return { ...daysOfBucket({ from: first?.from ?? 0, until: last?.until ?? 0 }), series }
}

const withBundleId = ({ apps }: Scope, series: Series): Series => ({
  ...series,
  value: apps.find(({ id }) => id === series.value)?.bundle_id ?? series.value,
})
