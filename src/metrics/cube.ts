/** What we remember: the sums of all rows by day, whole and by each single dimension, so that a chart reads few of them. */
import type { Environment } from '../apple/payloads.ts'
import type { Store } from '../store/store.ts'
import type { Calendar, DayNumber } from './calendar.ts'
import type { Measure, MetricRow } from './rows.ts'

/**
 * all: in the base currency. currency: in each currency as it was charged. unconverted: what no rate was known for, in
 * its own. The others split the base currency; fine has a value for each combination of all dimensions and currency.
 */
export type Dimension =
  | 'all'
  | 'currency'
  | 'unconverted'
  | 'product'
  | 'country'
  | 'period'
  | 'offer'
  | 'fine'

type Series = {
  generation: number
  app_id: string
  environment: Environment
  zone: string
  measure: Measure
  dimension: Dimension
  value: string
}

type Day = { day: DayNumber; milli: number; base_milli: number; count: number }

type Sum = Omit<Day, 'day'>
type Place = Pick<Series, 'generation' | 'app_id' | 'environment'>
/** What is to be added where, by series and day. */
type Cells = Map<string, { series: Series; day: DayNumber; sum: Sum }>

const SERIES_IN_MIND = 50_000

export function openCube(store: Store) {
  const find = store.prepare<Series, { id: number }>(`
    select id from metric_series where generation = :generation and app_id = :app_id and environment = :environment and zone = :zone
      and measure = :measure and dimension = :dimension and value = :value`)
  const addSeries = store.prepare<Series>(`
    insert into metric_series ( generation,  app_id,  environment,  zone,  measure,  dimension,  value)
    values                    (:generation, :app_id, :environment, :zone, :measure, :dimension, :value)`)
  const put = store.prepare<[number, DayNumber, number, number, number]>(`
    insert into metric_days (series_id, day, milli, base_milli, count) values (?, ?, ?, ?, ?)
    on conflict (series_id, day) do update set milli = milli + excluded.milli,
      base_milli = base_milli + excluded.base_milli, count = count + excluded.count`)
  const known = new Map<string, number>()

  /** Adds rows (sign 1) and takes others away (-1), each where it belongs, inside the caller's unit of work. */
  function add(
    { generation, app_id, environment }: Place,
    calendars: readonly Calendar[],
    changes: readonly (readonly [MetricRow, sign: 1 | -1])[],
  ): void {
    const place = { generation, app_id, environment }
    const cells: Cells = new Map()
    for (const [row, sign] of changes) {
      for (const calendar of calendars) {
        gather(cells, { ...place, zone: calendar.zone, measure: row.measure }, calendar.dayOf(row.on_at), {
          sums: calendar === calendars[0] ? sumsOf(row) : [fineOf(row)],
          sign,
        })
      }
    }
    for (const { series, day, sum } of cells.values()) {
      if (sum.milli === 0 && sum.base_milli === 0 && sum.count === 0) continue
      put.run(numberOf(series), day, sum.milli, sum.base_milli, sum.count)
    }
  }

  function numberOf(series: Series): number {
    const name = nameOf(series)
    const there = known.get(name)
    if (there !== undefined) return there
    const id = find.get(series)?.id ?? Number(addSeries.run(series).lastInsertRowid)
    // Only what is on disk: a row that was undone gives its number away again.
    store.afterCommit(() => {
      if (known.size >= SERIES_IN_MIND) known.clear()
      known.set(name, id)
    })
    return id
  }

  return { add }
}

const nameOf = ({ generation, app_id, environment, zone, measure, dimension, value }: Series): string =>
  [generation, app_id, environment, zone, measure, dimension, value].join('\n')

type Added = { sums: readonly Part[]; sign: 1 | -1 }

function gather(
  cells: Cells,
  place: Omit<Series, 'dimension' | 'value'>,
  day: DayNumber,
  { sums, sign }: Added,
): void {
  for (const [dimension, value, sum] of sums) {
    const series = { ...place, dimension, value }
    const name = `${nameOf(series)}\n${day}`
    const cell = cells.get(name) ?? { series, day, sum: { milli: 0, base_milli: 0, count: 0 } }
    cell.sum.milli += sign * sum.milli
    cell.sum.base_milli += sign * sum.base_milli
    cell.sum.count += sign * sum.count
    cells.set(name, cell)
  }
}

type Part = readonly [Dimension, value: string, Sum]

/** What a row is by every dimension at once: all that the days of Apple's reports are asked for. */
function fineOf({
  product_id,
  storefront,
  period,
  offer,
  currency,
  milli,
  base_milli,
  count,
}: MetricRow): Part {
  const value = JSON.stringify([product_id, storefront, period, offer, currency])
  return ['fine', value, { milli, base_milli: base_milli ?? 0, count }]
}

/** Where one row goes. Sums over several currencies are in the base currency alone. */
function sumsOf(row: MetricRow): Part[] {
  const { product_id, storefront, period, offer, currency, milli, count } = row
  const base_milli = row.base_milli ?? 0
  const inBase = { milli: 0, base_milli, count }
  const asCharged = { milli, base_milli, count }
  return [
    ['all', '', inBase],
    ['product', product_id, inBase],
    ['country', storefront, inBase],
    ['period', period, inBase],
    ['offer', offer, inBase],
    ['currency', currency, asCharged],
    fineOf(row),
    ...(row.base_milli === null ? [['unconverted', currency, asCharged] as const] : []),
  ]
}
