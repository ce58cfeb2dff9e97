/** Reads the sums of series from the ledger, and from Apple’s reports where the ledger is incomplete. */
import type { App } from '../../apps/apps.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import {
  dayIndexOf,
  type SumQuery,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from '../sums/tallies.ts'
import type { AmountsToRead, WithoutRate } from './amount_queries.ts'
import { isJoined, isLevel, type Joined, type JoinedMeasure } from './days.ts'
import type { JoinedSeries } from './joined.ts'

/** The sources of one measure of one app by day. */
export type JoinedMeasureDays = { app_id: string; measure: Measure } & Omit<Joined, 'values'>

/** The sums of a query, the amounts that no rate is known for, and the sources of each measure. */
export type JoinedSums = { tallies: Tallies; unconverted: Unconverted; from: JoinedMeasureDays[] }
/** Reads sums of the ledger, and the amounts that no rate is known for. */
type ReadLedger = (query: SumQuery) => Promise<Omit<JoinedSums, 'from'>>

/** `of_money`: whether the metric is money, or a ratio of money. */
type ReadOptions = { basis: 'gross' | 'proceeds'; of_money: boolean }

/**
 * Returns the sums of a query, as `readLedger` does, joined with the sums of Apple's reports. The change of a level is the
 * difference from the previous day, so that changes and levels agree. With an attribute filter, only the ledger is read.
 */
export function openJoinedTallies(joined: JoinedSeries, appOf: (app_id: string) => App | null) {
  async function read(query: SumQuery, readLedger: ReadLedger, options: ReadOptions): Promise<JoinedSums> {
    const { basis, of_money } = options
    const apps = query.apps.flatMap((app_id) => appOf(app_id) ?? [])
    const { shown, environment, attribute } = query
    const joinedMeasures = query.measures
      .filter((measure) => isJoined(measure, of_money))
      .filter(
        (measure) =>
          attribute === null &&
          apps.some((app) => joined.needsJoin({ shown, app, environment, basis }, measure)),
      )
    const ledgerMeasures = query.measures.filter((measure) => !joinedMeasures.some((one) => one === measure))
    const ofLedger =
      ledgerMeasures.length === 0 ? EMPTY() : await readLedger({ ...query, measures: ledgerMeasures })
    const sums = { ...ofLedger, from: ledgerOnlyIn({ ...query, measures: ledgerMeasures }) }
    const reads = new Map()
    for (const app of apps)
      for (const measure of joinedMeasures) await addMeasure(sums, query, { app, measure, reads, ...options })
    return sums
  }

  /** The states of the days of each app’s measures that are read from the ledger alone. */
  function ledgerOnlyIn({ apps, measures, buckets, ...query }: SumQuery): JoinedMeasureDays[] {
    const range = { from: (buckets[0]?.from ?? 0) - 1, until: buckets.at(-1)?.until ?? 0 }
    return apps.flatMap((app_id) => {
      const app = appOf(app_id)
      const ledgerDays = app && joined.ledgerOnly({ ...query, app, ...range })
      return ledgerDays === null
        ? []
        : measures.map((measure) => ({ app_id, measure, ...ledgerDays(measure) }))
    })
  }

  /** The first day on which anything was heard of each app, in the days of a query. */
  const knownFrom = (
    query: Pick<SumQuery, 'apps' | 'shown' | 'environment' | 'zone'>,
  ): Map<string, DayNumber> =>
    new Map(
      query.apps.flatMap((app_id) => {
        const app = appOf(app_id)
        return app === null ? [] : [[app_id, joined.knownFrom({ ...query, app, from: 0, until: 0 })]]
      }),
    )

  type MeasureRequest = ReadOptions & Pick<WithoutRate, 'reads'> & { app: App; measure: JoinedMeasure }

  /** Adds a measure of an app, and its amounts that no rate is known for. */
  async function addMeasure(sums: JoinedSums, query: SumQuery, request: MeasureRequest): Promise<void> {
    const { app, measure, basis, of_money, reads } = request
    const { values, ...rest } = await readMeasure(query, request)
    addValues(sums.tallies, query, request, values)
    sums.from.push({ app_id: app.id, measure, ...rest })
    if (!of_money || query.currency !== null) return
    for (const currency of joined.currenciesWithoutRate({ ...query, app_id: app.id, basis })) {
      const waiting = await readMeasure({ ...query, without_rate: { currency, reads } }, request)
      const found = [...waiting.values].filter(([, amounts]) => amounts.some(({ milli }) => milli !== 0))
      if (found.length === 0) continue
      const tallies: Tallies = sums.unconverted.get(currency) ?? new Map()
      sums.unconverted.set(currency, tallies)
      addValues(tallies, query, request, found)
    }
  }

  function addValues(
    tallies: Tallies,
    { buckets, split }: SumQuery,
    { app, measure }: Pick<MeasureRequest, 'app' | 'measure'>,
    values: Iterable<[string, Amounts]>,
  ): void {
    const { bucketIndexes } = dayIndexOf(buckets)
    for (const [value, amounts] of values) {
      const tally = tallyOf(tallies, split === 'app' ? app.id : value, measure, buckets.length)
      if (isLevel(measure)) addLevel(tally, bucketIndexes, amounts)
      else addFlow(tally, bucketIndexes, amounts)
    }
  }

  function readMeasure(
    { buckets, ...query }: SumQuery & AmountsToRead,
    { app, measure, basis }: Pick<MeasureRequest, 'app' | 'measure' | 'basis'>,
  ): Promise<Joined> {
    const { from, until } = dayIndexOf(buckets)
    // The change of a level on the first day needs the value of the day before.
    const range = { from: isLevel(measure) ? from - 1 : from, until }
    return joined.read({ ...query, ...range, app, basis }, measure)
  }

  return { read, ledgerOnlyIn, knownFrom }
}

type Amounts = readonly { milli: number; count: number }[]

/** Adds a level’s changes. `bucketOf` has an element for each day; `amounts` begins with the day before. */
function addLevel(tally: Tally, bucketOf: Int32Array, amounts: Amounts): void {
  let last = amounts[0] ?? NO_AMOUNT
  tally.sumBefore.milli += last.milli
  tally.sumBefore.count += last.count
  for (let day = 1; day < amounts.length; day += 1) {
    const amount = amounts[day] ?? NO_AMOUNT
    addToBucket(tally, bucketOf[day - 1] ?? 0, amount.milli - last.milli, amount.count - last.count)
    last = amount
  }
}

function addFlow(tally: Tally, bucketOf: Int32Array, amounts: Amounts): void {
  for (let day = 0; day < amounts.length; day += 1) {
    const { milli, count } = amounts[day] ?? NO_AMOUNT
    addToBucket(tally, bucketOf[day] ?? 0, milli, count)
  }
}

function addToBucket(
  { milli, count }: Tally,
  bucket: number,
  added_milli: number,
  added_count: number,
): void {
  milli[bucket] = (milli[bucket] ?? 0) + added_milli
  count[bucket] = (count[bucket] ?? 0) + added_count
}

const NO_AMOUNT = { milli: 0, count: 0 }
const EMPTY = (): Omit<JoinedSums, 'from'> => ({ tallies: new Map(), unconverted: new Map() })
