/** Reads the charges and refunds of cohorts that no exchange rate is known for, in their own currency. */
import { setImmediate } from 'node:timers/promises'
import { type Basis, divideHalfEven } from '../../money.ts'
import { bound, type Store } from '../../store/store.ts'
import type { CustomerValues } from '../customers/values.ts'
import { ALWAYS } from '../joined/days.ts'
import type { Calendar, DayNumber } from '../lineage/calendar.ts'
import { PROCEEDS_PARTS } from '../lineage/proceeds.ts'
import type { CountingSettings } from '../lineage/settings.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { CohortScope } from './cells.ts'
import { ANY, firstDay } from './changes.ts'
import type { DayMoney } from './contribution.ts'
import type { CohortQuery } from './spans.ts'

/**
 * Charges less refunds of one customer on a day, or their proceeds. `first`: the day of the customer’s first payment.
 * `known_from`: the first day on which anything was heard of the app.
 */
export type UnconvertedMoney = {
  known_from: DayNumber
  first: DayNumber
  day: DayNumber
  currency: string
  milli: number
}

/** Amounts that no rate is known for, by currency, in thousandths of it. */
type NotConverted = { currency: string; milli: number }

export type UnconvertedCohorts = ReturnType<typeof openUnconvertedCohorts>

type Row = {
  on_at: number
  measure: string
  product_id: string
  storefront: string
  currency: string
  milli: number
}

type ProductAndCountry = Pick<Row, 'product_id' | 'storefront'>

const LINEAGES_PER_TURN = 200
const GROSS = [
  'revenue.new',
  'revenue.renewal',
  'revenue.one_time',
  'revenue.refund',
  'revenue.refund_reversed',
  'revenue.proration',
]
/** The measures of money in each basis, as JSON. */
const MEASURES = { gross: JSON.stringify(GROSS), proceeds: JSON.stringify([...PROCEEDS_PARTS.keys()]) }
const isReturned = (measure: string): boolean => /\.(refund|proration)/.test(measure)

type MoneyOptions = { dayOf: Calendar['dayOf']; isWithin: (one: ProductAndCountry) => boolean; basis: Basis }

type Deps = {
  store: Store
  values: Pick<CustomerValues, 'membersOf'>
  settings: Pick<CountingSettings, 'calendarOf'>
}

export function openUnconvertedCohorts({ store, values, settings }: Deps) {
  const { isAnywhere, waiting, rowsOf, spreadOf } = prepareStatements(store)

  /** All amounts without a rate of the apps and filters of a query through today, in any cohort. Yields between slices. */
  async function read(
    { scopes, time_zone, ...filter }: CohortQuery,
    { basis, today }: { basis: Basis; today: DayNumber },
  ): Promise<UnconvertedMoney[]> {
    const options = { dayOf: settings.calendarOf(time_zone).dayOf, isWithin: isIn(filter), basis }
    const found: UnconvertedMoney[] = []
    for (const scope of scopes)
      for (const some of lineagesOf(scope, basis)) {
        for (const lineage of some) found.push(...moneyOf(scope, lineage, options))
        await setImmediate()
      }
    return found.filter(({ day }) => day <= today)
  }

  /** The lineages of an app that wait for a rate, in slices; none if no charge of the app does. */
  function* lineagesOf(
    { generation, app_id, environment }: CohortScope,
    basis: Basis,
  ): Generator<Numbered[]> {
    if (isAnywhere.get(generation, app_id, environment, MEASURES[basis]) === undefined) return
    for (let after = 0; ; ) {
      const some = waiting.all(generation, after, app_id, environment, LINEAGES_PER_TURN)
      yield some
      if (some.length < LINEAGES_PER_TURN) return
      after = some.at(-1)?.id ?? after
    }
  }

  /** The amounts of a lineage that wait for a rate. */
  function moneyOf(
    { generation, observed = ALWAYS }: CohortScope,
    lineage: Numbered,
    { dayOf, isWithin, basis }: MoneyOptions,
  ): UnconvertedMoney[] {
    const rows = rowsOf.all(generation, lineage.id, MEASURES[basis]).filter(isWithin)
    if (rows.length === 0) return []
    const spread = spreadOf.get(generation, values.membersOf(lineage).leader.id)?.spread
    const money: DayMoney[] = spread === undefined ? [] : JSON.parse(spread).money
    const first = firstDay(money.filter(([, product_id, storefront]) => isWithin({ product_id, storefront })))
    if (first === null) return []
    return rows.map(({ on_at, measure, currency, milli }) => ({
      known_from: observed.any,
      first,
      day: dayOf(on_at),
      currency,
      milli: isReturned(measure) ? -milli : milli,
    }))
  }

  return { read }
}

function prepareStatements(store: Store) {
  const isAnywhere = store.prepare<[number, string, string, string], { id: number }>(`
    select id from metric_series where generation = ? and app_id = ? and environment = ?
      and dimension = 'unconverted' and measure in (select value from json_each(?)) limit 1`)
  // The + keeps SQLite from using an index on app_id, with which each slice would read and sort the whole app.
  const waiting = store.prepare<[number, number, string, string, number], Numbered>(`
    select id, app_id, environment, original_transaction_id
    from metric_counted indexed by metric_counted_provisional join metric_lineages on id = lineage_id
    where is_provisional = 1 and generation = ${bound} and lineage_id > ${bound}
      and +app_id = ${bound} and environment = ${bound}
    order by lineage_id limit ${bound}`)
  const rowsOf = store.prepare<[number, number, string], Row>(`
    select on_at, measure, product_id, storefront, currency, milli from metric_rows r
      join metric_counted c on c.generation = r.generation and c.lineage_id = r.lineage_id and known_at <= counted_at
    where r.generation = ${bound} and r.lineage_id = ${bound} and base_milli is null
      and measure in (select value from json_each(${bound}))`)
  const spreadOf = store.prepare<[number, number], { spread: string }>(
    'select spread from cohort_customers where generation = ? and lineage_id = ?',
  )
  return { isAnywhere, waiting, rowsOf, spreadOf }
}

const isIn =
  (filter: ProductAndCountry) =>
  ({ product_id, storefront }: ProductAndCountry): boolean =>
    (filter.product_id === ANY || product_id === filter.product_id) &&
    (filter.storefront === ANY || storefront === filter.storefront)

/**
 * Money per customer; null if there is none, or if nothing could be converted. `waiting`: the amounts that the money
 * excludes, because no rate is known for them.
 */
export function perCustomer(
  { charged_milli, net_milli }: { charged_milli: number; net_milli: number },
  customers: number,
  { isOver, waiting }: { isOver: boolean; waiting: readonly UnconvertedMoney[] },
) {
  const not_converted = notConvertedIn(waiting)
  const isUnknown = customers === 0 || (not_converted !== undefined && charged_milli === 0)
  return {
    per_customer_milli: isUnknown ? null : perHead(net_milli, customers),
    complete: isOver && not_converted === undefined,
    ...(not_converted && { not_converted }),
  }
}

const perHead = (milli: number, heads: number): number => Number(divideHalfEven(BigInt(milli), BigInt(heads)))

/** Sums amounts by currency; undefined without any. */
function notConvertedIn(amounts: readonly UnconvertedMoney[]): NotConverted[] | undefined {
  const sums = new Map<string, number>()
  for (const { currency, milli } of amounts) sums.set(currency, (sums.get(currency) ?? 0) + milli)
  const some = [...sums].filter(([, milli]) => milli !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
  return some.length === 0 ? undefined : some.map(([currency, milli]) => ({ currency, milli }))
}
