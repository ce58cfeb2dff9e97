/** What we compute: the answer to a question about a metric: its series, those before them, and how sure they are. */
import type { Environment } from '../apple/payloads.ts'
import type { App } from '../apps/apps.ts'
import type { Organization } from '../apps/organizations.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Rates } from '../ledger/rates/rates.ts'
import type { Store } from '../store/store.ts'
import { nextTurn } from '../turns.ts'
import { asideOf } from './aside.ts'
import { bucketsBefore, daysOfBucket, type Interval } from './buckets.ts'
import { type DayNumber, dayText } from './calendar.ts'
import { type Basis, isMoney, type Kind, type Split, type Unit } from './definition.ts'
import { DEFINITIONS, type MetricName } from './definitions.ts'
import { openFinality } from './finality.ts'
import { type Formula, measuresOf } from './formula_lines.ts'
import { formulaOf, type Refunds } from './formulas.ts'
import type { Metrics, RebuildProgress } from './metrics.ts'
import type { Factors } from './months.ts'
import { bucketsDrawn, type Drawing, type Series, seriesOf, slicesOf, wholeOf } from './points.ts'
import type { Question } from './question.ts'
import { SUMMED_KINDS } from './reported/cells.ts'
import type { JoinedFrom } from './reported/joined_tallies.ts'
import { daysOf, heardDay, NO_BASIS } from './reported/joining.ts'
import type { Reported } from './reported/reported.ts'
import { openReportedSums } from './reported/sums.ts'
import { openRowReading, type ZonedReading } from './row_sums.ts'
import { openRowThread } from './row_thread.ts'
import { PACIFIC } from './settings.ts'
import { readSharedDays } from './shared_days.ts'
import {
  missingIn,
  proceedsKnown,
  type SeamOfMeasure,
  type SourceStretch,
  seamsIn,
  sourcesIn,
} from './sources.ts'
import { openSums } from './sums.ts'
import type { Bucket, Reading, Tallies, Unconverted } from './tallies.ts'
import { unknownIn } from './unknown.ts'

/** Points of a split drawn in one turn of the event loop. */
const POINTS_AT_ONCE = 2_000

/** Whose figures: apps of one organization. There is at least one app. */
export type Scope = {
  organization: Organization
  apps: readonly App[]
  environment: Environment
  zone: Reading['zone']
}

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
  previous: Stretch | null
}

type Deps = {
  store: Store
  clock: Clock
  metrics: Pick<Metrics, 'ripen' | 'progress' | 'settingsOf' | 'lines'>
  rates: Rates
  reported: Pick<Reported, 'readTallies' | 'seamOf'>
}

export type SeriesOf = ReturnType<typeof openSeries>

export function openSeries({ store, clock, metrics, rates, reported }: Deps) {
  const sums = openSums(store, metrics.settingsOf, metrics.lines)
  const rows = openRowReading(store)
  const thread = openRowThread(store.file)
  const finality = openFinality(store, rates)
  const reportedSums = openReportedSums(store)
  const isReported = store.remembering(['reported_series'], (app_id) =>
    SUMMED_KINDS.some((kind) => reportedSums.isReported(app_id, kind)),
  )

  /** The calendar of a scope. */
  function calendarOf({ apps, zone }: Scope) {
    const settings = metrics.settingsOf(apps[0]?.id ?? '')
    const calendars = settings?.calendars ?? []
    const calendar = zone === 'own' ? calendars[0] : calendars.find((one) => one.zone === PACIFIC)
    if (!calendar) throw new Refusal(404, 'unknown_app', 'there is no app to be counted')
    return calendar
  }

  /** By which length of a month the prices of a scope are made monthly. */
  const monthLengthOf = ({ apps }: Scope): Factors =>
    metrics.settingsOf(apps[0]?.id ?? '')?.factors ?? 'calendar'

  /** The day it is now, in the scope's time zone. */
  const todayOf = (scope: Scope): DayNumber => calendarOf(scope).dayOf(clock())

  /** The answer to a question. Rows whose time has come are shown first. */
  async function answer(scope: Scope, question: Question): Promise<SeriesAnswer> {
    const { definition, buckets, interval, basis } = question
    await metrics.ripen()
    await nextTurn()
    const { series, from } = await seriesIn(scope, question, buckets)
    const before = question.with_previous ? bucketsBefore(buckets, interval) : null
    if (before) await nextTurn()
    const first = sums.firstDay(readingOf(scope, question, buckets))
    const { unit, ratio_of, kind } = definition
    return {
      ...{ metric: question.name, unit, ratio_of, kind },
      ...{ organization_id: scope.organization.id, apps: scope.apps.map(({ id }) => id) },
      ...{ environment: scope.environment, time_zone: calendarOf(scope).zone },
      ...{ today_on: dayText(todayOf(scope)), interval, split: question.split },
      currency: isMoney(definition) ? (question.currency ?? scope.organization.currency) : null,
      ...{ basis, month_length: monthLengthOf(scope), view: question.view },
      refunds: definition.has_refund_days ? question.refunds : null,
      ...{ sources: sourcesIn(from, buckets), seams: seamsIn(from) },
      proceeds_known: basis === 'proceeds' ? proceedsKnown(from) : null,
      first_on: first === null ? null : dayText(first),
      rebuilding: metrics.progress(),
      ...stretchOf(buckets, series),
      previous: before && stretchOf(before, (await seriesIn(scope, question, before)).series),
    }
  }

  /** The series of a stretch of days, whatever their length, and what they are joined from. To be called after `ripen`. */
  async function seriesIn(
    scope: Scope,
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
    const isCut = missingIn(from, definition.kind)
    const isUnknown = unknownIn(from, definition.kind)
    const isMissing = (bucket: Bucket): boolean => isProvisional(bucket) || isCut(bucket)
    const drawing: Drawing = {
      ...{ definition, lines, levels, with_empty_parts: ask.with_empty_parts ?? isOnePart(ask) },
      buckets: bucketsDrawn(buckets, { today: todayOf(scope), isMissing, interval: ask.interval }),
      isUnknownAt: (measures, index) => isUnknown(measures, buckets[index] ?? { from: 0, until: 0 }),
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
      const own = await thread.ofAttribute(zoned(reading))
      return { ...own, ...(!of_money && { unconverted: new Map() }), from: [] }
    }
    const isReportedHere = reading.environment === 'production' && reading.apps.some(isReported)
    const isJoined = basis === 'proceeds' || isReportedHere || reading.measures.includes('downloads')
    const { tallies, from } =
      isJoined && !of_ledger
        ? await reported.readTallies(reading, sums.read, basis)
        : { tallies: await sums.read(reading), from: isReportedHere ? heardIn(reading) : [] }
    return { tallies, unconverted: of_money ? await leftOut(reading) : new Map(), from }
  }

  const zoned = (reading: Reading): ZonedReading => ({
    ...reading,
    zones: new Map(reading.apps.flatMap((app_id) => zoneOf(app_id, reading.zone))),
  })

  function zoneOf(app_id: string, zone: Reading['zone']): [string, string][] {
    const own = metrics.settingsOf(app_id)?.calendar.zone
    return own === undefined ? [] : [[app_id, zone === 'own' ? own : PACIFIC]]
  }

  /** Which days the ledger alone can tell of: those since it was first told of anything, of whichever app. */
  function heardIn({ apps, measures, buckets }: Reading): JoinedFrom[] {
    const range = { from: (buckets[0]?.from ?? 0) - 1, until: buckets.at(-1)?.until ?? 0 }
    const seams = apps
      .filter(isReported)
      .map((app_id) => ({ app_id, seam: reported.seamOf(app_id, 'flows') }))
    const heard = Math.min(...seams.map(({ seam }) => seam?.day ?? Infinity))
    return seams.flatMap(({ app_id, seam }) => {
      const days = daysOf(range).map((day) => heardDay(day, heard))
      return measures.map((measure) => ({ app_id, measure, days, seam, basis: NO_BASIS }))
    })
  }

  /** What no rate is known for. Only the whole is kept summed; the rest is in the rows that wait for a rate. */
  async function leftOut(reading: Reading): Promise<Unconverted> {
    if (reading.currency !== null) return new Map()
    const whole = sums.unconverted(reading)
    const isWhole =
      reading.split === null && reading.zone === 'own' && Object.keys(reading.filters).length === 0
    return whole.size === 0 || isWhole ? whole : rows.unconverted(zoned(reading))
  }

  function provisionalOf(scope: Scope, reading: Reading, kind: Kind) {
    if (reading.currency !== null) return () => false
    return finality.provisionalIn(sums.currencies(reading), scope.organization.currency, kind)
  }

  return { answer, seriesIn, todayOf, calendarOf, monthLengthOf, read: sums.read, close: thread.close }
}

/** What is asked for by name is told, even if it is nothing. */
const isOnePart = ({ part, split }: Ask): boolean => part !== null && split === null

/** The lines that are asked for, of a split one alone, and what they need from before. */
function asked(ask: Ask): Formula {
  const { lines, ...formula } = formulaOf(ask.name, ask)
  const isOne = ask.part !== null || ask.split !== null
  return { ...formula, lines: isOne ? lines.filter(({ part }) => part === ask.part) : lines }
}

function readingOf({ apps, environment, zone }: Scope, ask: Ask, buckets: readonly Bucket[]): Reading {
  const { lines, levels } = asked(ask)
  const { filters, attribute, split, currency } = ask
  const ids = apps.map(({ id }) => id)
  const measures = measuresOf(lines)
  return { apps: ids, environment, zone, measures, levels, buckets, filters, attribute, split, currency }
}

const stretchOf = (buckets: readonly Bucket[], series: Series[]): Stretch => {
  const [first, last] = [buckets[0], buckets.at(-1)]
  return { ...daysOfBucket({ from: first?.from ?? 0, until: last?.until ?? 0 }), series }
}

const withBundleId = ({ apps }: Scope, series: Series): Series => ({
  ...series,
  value: apps.find(({ id }) => id === series.value)?.bundle_id ?? series.value,
})
