/** Reads the sums of series from the ledger, and from Apple’s reports where the ledger is incomplete. */
import type { App } from '../../apps/apps.ts'
import type { Measure } from '../lineage/rows.ts'
import {
  dayIndexOf,
  type ReadTallies,
  type SumQuery,
  type Tallies,
  type Tally,
  tallyOf,
} from '../sums/tallies.ts'
import { isLevel, isLoss, type Joined, type JoinedMeasure } from './days.ts'
import type { JoinedSeries } from './joined.ts'

/** The sources of one measure of one app by day. `of_ledger`: only the ledger has the measure. */
export type JoinedMeasureDays = { app_id: string; measure: Measure; of_ledger?: true } & Omit<
  Joined,
  'values'
>

const JOINED_MEASURES: readonly Measure[] = [
  ...(['mrr', 'trials', 'revenue.new', 'revenue.renewal', 'revenue.one_time'] as const),
  ...(['revenue.refund', 'revenue.refunded_by_charge', 'revenue.proration'] as const),
  ...(['trial.began', 'trial.won', 'trial.ended', 'paid.direct', 'paid.after_trial', 'downloads'] as const),
]
/** Whether a measure can be read from reports. Reports have the number of losses, but not their amounts. */
const isJoined = (measure: Measure, of_money: boolean): measure is JoinedMeasure =>
  JOINED_MEASURES.includes(measure) || (isLoss(measure) && !of_money)

/** `of_money`: whether the metric is money, or a ratio of money. */
type ReadOptions = { basis: 'gross' | 'proceeds'; of_money: boolean }

/**
 * Returns the sums of a query, as `readLedger` does, joined with the sums of Apple's reports. The change of a level is the
 * difference from the previous day, so that changes and levels agree. With an attribute filter, only the ledger is read.
 */
export function openJoinedTallies(joined: JoinedSeries, appOf: (app_id: string) => App | null) {
  async function read(
    query: SumQuery,
    readLedger: ReadTallies,
    { basis, of_money }: ReadOptions,
  ): Promise<{ tallies: Tallies; from: JoinedMeasureDays[] }> {
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
    const tallies =
      ledgerMeasures.length === 0 ? new Map() : await readLedger({ ...query, measures: ledgerMeasures })
    const ledgerOnlyMeasures = ledgerMeasures.filter((measure) => !isJoined(measure, of_money))
    const from: JoinedMeasureDays[] = ledgerOnlyIn({ ...query, measures: ledgerOnlyMeasures })
    for (const app_id of query.apps) {
      for (const measure of joinedMeasures)
        from.push(...(await addMeasure(tallies, query, { app_id, measure, basis })))
    }
    return { tallies, from }
  }

  /** The states of days of ledger-only measures, for each app with reports. */
  function ledgerOnlyIn({ shown, apps, environment, measures, buckets }: SumQuery): JoinedMeasureDays[] {
    const range = { from: (buckets[0]?.from ?? 0) - 1, until: buckets.at(-1)?.until ?? 0 }
    return apps.flatMap((app_id) => {
      const app = appOf(app_id)
      return measures.flatMap((measure) => {
        const ledgerDays = app && joined.ledgerOnly({ shown, app, environment, ...range }, measure)
        return ledgerDays ? [{ app_id, measure, of_ledger: true as const, ...ledgerDays }] : []
      })
    })
  }

  type MeasureRequest = { app_id: string; measure: JoinedMeasure; basis: 'gross' | 'proceeds' }

  async function addMeasure(tallies: Tallies, query: SumQuery, { app_id, measure, basis }: MeasureRequest) {
    const app = appOf(app_id)
    if (!app) return []
    const { values, ...rest } = await readMeasure(query, app, measure, basis)
    const { bucketIndexes } = dayIndexOf(query.buckets)
    for (const [value, amounts] of values) {
      const key = query.split === 'app' ? app_id : value
      const tally = tallyOf(tallies, key, measure, query.buckets.length)
      if (isLevel(measure)) addLevel(tally, bucketIndexes, amounts)
      else addFlow(tally, bucketIndexes, amounts)
    }
    return [{ app_id, measure, ...rest }]
  }

  function readMeasure(
    { buckets, ...query }: SumQuery,
    app: App,
    measure: JoinedMeasure,
    basis: 'gross' | 'proceeds',
  ): Promise<Joined> {
    const { from, until } = dayIndexOf(buckets)
    // The change of a level on the first day needs the value of the day before.
    const range = { from: isLevel(measure) ? from - 1 : from, until }
    return joined.read({ ...query, ...range, app, basis }, measure)
  }

  return { read, ledgerOnlyIn }
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
