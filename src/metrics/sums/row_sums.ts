/** Sums the rows of individual subscriptions, for requests that the stored daily sums cannot answer. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import { type Calendar, type DayNumber, openCalendar } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import { zoneIn } from './sums.ts'
import {
  dayIndexOf,
  firstSummedDay,
  type RowQuery,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from './tallies.ts'

type Lineage = { id: number; app_id: string }
type Row = [
  lineage_id: number,
  on_at: number,
  measure: Measure,
  product_id: string,
  storefront: string,
  period: string,
  offer: string,
  currency: string,
  milli: number,
  base_milli: number | null,
  count: number,
]

/** The sums of rows, and the amounts that could not be converted, by currency. */
export type RowSums = { tallies: Tallies; unconverted: Unconverted }

/** How many users, and how many lineages, to read before yielding. */
const SLICE_USERS = 500
const STEP_LINEAGES = 30

/** `source`: the store, or another thread’s connection to its file. */
export function openRowReader(source: Pick<Store, 'prepare'>) {
  const calendars = new Map<string, Calendar>()
  const lastUser = source.prepare<[], { last: number | null }>('select max(rowid) as last from users')
  // Reads a slice of users, then their links. A proved attribute of null counts, because `->` returns the text null.
  const lineagesOfUsers = source.prepare<{
    after: number
    until: number
    apps: string
    environment: string
    path: string
    json: string
  }>(`
    select m.id, m.app_id from users u
      cross join links l on l.app_id = u.app_id and l.app_user_id = u.app_user_id and l.store = 'apple'
      cross join metric_lineages m on m.app_id = l.app_id and m.environment = :environment
        and m.original_transaction_id = l.transaction_id
    where u.rowid > :after and u.rowid <= :until and +u.app_id in (select value from json_each(:apps))
      and coalesce(u.proved_attributes -> :path, u.attributes -> :path) in (select value from json_each(:json))`)
  // The + keeps SQLite from using an index on app_id, with which each slice would read and sort the whole app.
  const lineagesWaiting = source.prepare<
    { after: number; environment: string; apps: string; limit: number },
    Lineage
  >(`
    select distinct id, app_id from metric_counted indexed by metric_counted_provisional
      join metric_lineages on id = lineage_id
    where is_provisional = 1 and lineage_id > :after and environment = :environment
      and +app_id in (select value from json_each(:apps)) order by lineage_id limit :limit`)
  const rows = source
    .prepare<{ generation: number; lineages: string; measures: string }, Row>(`
    select r.lineage_id, on_at, measure, product_id, storefront, period, offer, currency, milli, base_milli, count
    from json_each(:lineages) cross join metric_counted c on c.generation = :generation and c.lineage_id = value
      cross join metric_rows r on r.generation = :generation and r.lineage_id = value and known_at <= counted_at
    where measure in (select value from json_each(:measures))`)
    .raw()

  /** Reads the lineages linked to users with an attribute, one slice at a time. */
  function* lineagesWithAttribute({ apps, environment, attribute }: RowQuery): Generator<Lineage[]> {
    if (attribute === null) return
    const last = lastUser.get()?.last ?? 0
    const path = `$."${attribute.key}"`
    const params = { apps: JSON.stringify(apps), json: JSON.stringify(attribute.json), environment, path }
    for (let after = 0; after < last; after += SLICE_USERS)
      yield lineagesOfUsers.all({ ...params, after, until: after + SLICE_USERS }) as Lineage[]
  }

  /** Reads the lineages with an amount that waits for a rate, one slice at a time. */
  function* lineagesWithoutRate({ apps, environment }: RowQuery): Generator<Lineage[]> {
    const params = { apps: JSON.stringify(apps), environment, limit: STEP_LINEAGES }
    for (let some = lineagesWaiting.all({ ...params, after: 0 }); some.length > 0; ) {
      yield some
      some = lineagesWaiting.all({ ...params, after: some.at(-1)?.id ?? 0 })
    }
  }

  /** Sums the rows of lineages. Each step of the generator reads at most `STEP_LINEAGES` lineages. */
  function* sum(slices: Generator<Lineage[]>, query: RowQuery): Generator<void, RowSums> {
    const sums: RowSums = { tallies: new Map(), unconverted: new Map() }
    const addAll = rowAdder(sums, query)
    for (const slice of slices) {
      for (let at = 0; at < slice.length; at += STEP_LINEAGES) {
        addAll(slice.slice(at, at + STEP_LINEAGES))
        yield
      }
      yield
    }
    return sums
  }

  /** Returns a function that adds the rows of some lineages to `sums`. */
  function rowAdder(sums: RowSums, query: RowQuery): (some: readonly Lineage[]) => void {
    const isIncluded = rowFilter(query)
    const measures = JSON.stringify(query.measures)
    const { dayOf } = calendarOf(zoneIn(query, query.zone))
    const bucketOf = bucketLookup(query)
    const generation = query.shown.id
    return (some) => {
      const apps = new Map(some.map(({ id, app_id }) => [id, app_id]))
      const lineages = JSON.stringify([...apps.keys()])
      for (const row of rows.all({ generation, lineages, measures })) {
        const app_id = apps.get(row[0]) ?? ''
        const day = dayOf(row[1])
        const isKnown = day >= firstSummedDay(query, app_id, row[2])
        if (isKnown && isIncluded(row)) addRow(sums, query, row, { app_id, bucket: bucketOf(day) })
      }
    }
  }

  /** Returns a function that finds the bucket of a day: its index, -1 before the first, null after the last. */
  function bucketLookup({ buckets }: RowQuery): (day: DayNumber) => number | null {
    const index = dayIndexOf(buckets)
    return (day) => {
      if (day > index.until) return null
      return day < index.from ? -1 : (index.bucketIndexes[day - index.from] ?? null)
    }
  }

  function calendarOf(zone: string): Calendar {
    const calendar = calendars.get(zone) ?? openCalendar(zone)
    calendars.set(zone, calendar)
    return calendar
  }

  /** Sums the lineages whose users have the query’s attribute. Synchronous; blocks the thread. */
  function sumByAttribute(query: RowQuery): RowSums {
    const steps = sum(lineagesWithAttribute(query), query)
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
  }

  /** Sums amounts without a known rate, by currency. Yields to the event loop between slices. */
  async function unconverted(query: RowQuery): Promise<Unconverted> {
    const steps = sum(lineagesWithoutRate(query), query)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value.unconverted
      await setImmediate()
    }
  }

  return { sumByAttribute, unconverted }
}

/** Returns a predicate that is true for rows that pass the query’s filters. */
function rowFilter({ filters, currency }: RowQuery): (row: Row) => boolean {
  const { product, country, period, offer } = filters
  const sets = [product, country, period, offer, currency === null ? undefined : [currency]].map(
    (values) => values && new Set<string>(values),
  )
  return (row) => sets.every((set, index) => set?.has(String(row[3 + index])) ?? true)
}

const SPLIT_COLUMN = { product: 3, country: 4, period: 5, offer: 6, currency: 7 } as const

type RowPosition = { app_id: string; bucket: number | null }

function addRow(
  { tallies, unconverted }: RowSums,
  query: RowQuery,
  row: Row,
  { app_id, bucket }: RowPosition,
): void {
  const [, , measure, , , , , currency, milli, base_milli, count] = row
  if (bucket === null || (bucket < 0 && !query.levels.includes(measure))) return
  const { split } = query
  const key = split === null ? '' : split === 'app' ? app_id : String(row[SPLIT_COLUMN[split]])
  const isOriginal = query.currency !== null
  const buckets = query.buckets.length
  addToTally(tallyOf(tallies, key, measure, buckets), bucket, isOriginal ? milli : (base_milli ?? 0), count)
  if (isOriginal || base_milli !== null) return
  const currencyTallies: Tallies = unconverted.get(currency) ?? new Map()
  unconverted.set(currency, currencyTallies)
  addToTally(tallyOf(currencyTallies, key, measure, buckets), bucket, milli, count)
}

function addToTally(tally: Tally, bucket: number, milli: number, count: number): void {
  if (bucket < 0) {
    tally.sumBefore.milli += milli
    tally.sumBefore.count += count
    return
  }
  tally.milli[bucket] = (tally.milli[bucket] ?? 0) + milli
  tally.count[bucket] = (tally.count[bucket] ?? 0) + count
}
