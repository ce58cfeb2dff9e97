/** What we remember: what the reports of each Pacific day come to, whole and by each dimension, so that charts read few rows. */
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../calendar.ts'
import type { Cell, ReportedMeasure, SummedKind } from './cells.ts'
import { kindOfMeasure } from './cells.ts'

/** As those of the ledger's sums (cube.ts); a product's value is Apple's number. */
export type ReportedDimension =
  | 'all'
  | 'currency'
  | 'unconverted'
  | 'product'
  | 'country'
  | 'period'
  | 'offer'
  | 'fine'

export type Sum = { milli: number; base_milli: number; count: number }
/** A cell with its worth in the base currency; null where there was no rate. */
export type Converted = Cell & { base_milli: number | null }

type Named = { measure: string; dimension: string; value: string }
type Kept = Named & Sum & { series_id: number }

export type ReportedSums = ReturnType<typeof openReportedSums>

export function openReportedSums(store: Store) {
  const find = store.prepare<[string, string, string, string], { id: number }>(
    'select id from reported_series where app_id = ? and measure = ? and dimension = ? and value = ?',
  )
  const add = store.prepare<[string, string, string, string]>(
    'insert into reported_series (app_id, measure, dimension, value) values (?, ?, ?, ?)',
  )
  const put = store.prepare<[number, DayNumber, number, number, number]>(
    'insert or replace into reported_sums (series_id, day, milli, base_milli, count) values (?, ?, ?, ?, ?)',
  )
  const drop = store.prepare<[number, DayNumber]>('delete from reported_sums where series_id = ? and day = ?')
  const keptOn = store.prepare<[DayNumber, string], Kept>(`
    select series_id, measure, dimension, value, milli, base_milli, reported_sums.count as count
    from reported_series cross join reported_sums on series_id = id and day = ? where app_id = ?`)
  const seriesOf = store.prepare<[string, string, string], { id: number; value: string }>(
    'select id, value from reported_series where app_id = ? and measure = ? and dimension = ?',
  )
  const days = store.prepare<[number, DayNumber, DayNumber], Sum & { day: DayNumber }>(
    'select day, milli, base_milli, count from reported_sums where series_id = ? and day between ? and ?',
  )
  const measures = store.prepare<[string], { measure: string }>(
    'select distinct measure from reported_series where app_id = ?',
  )

  const firstOf = store.prepare<[string], { day: DayNumber | null }>(`
    select min((select min(day) from reported_sums where series_id = id)) as day
    from reported_series where app_id = ? and dimension = 'all' and measure <> 'downloads'`)

  /** Makes a day's sums of an app what `cells` come to, within the caller's unit of work. */
  function replace(app_id: string, kind: SummedKind, day: DayNumber, cells: readonly Converted[]): void {
    const before = new Map(
      keptOn
        .all(day, app_id)
        .filter(({ measure }) => kindOfMeasure(measure) === kind)
        .map((one) => [nameOf(one), one]),
    )
    for (const [name, sum] of sumsOf(cells)) {
      const known = before.get(name)
      before.delete(name)
      if (known && isSame(known, sum)) continue
      const id = known?.series_id ?? numberOf(app_id, sum)
      put.run(id, day, sum.milli, sum.base_milli, sum.count)
    }
    for (const { series_id } of before.values()) drop.run(series_id, day)
  }

  function numberOf(app_id: string, { measure, dimension, value }: Named): number {
    const known = find.get(app_id, measure, dimension, value)
    return known?.id ?? Number(add.run(app_id, measure, dimension, value).lastInsertRowid)
  }

  /** Whether any report of this kind has ever told anything of the app. */
  const isReported = (app_id: string, kind: SummedKind): boolean =>
    measures.all(app_id).some(({ measure }) => kindOfMeasure(measure) === kind)

  return {
    replace,
    isReported,
    /** The first Pacific day of which reports tell anything of the app but downloads; null where there is none. */
    firstDay: (app_id: string): DayNumber | null => firstOf.get(app_id)?.day ?? null,
    /** The values of a dimension that an app has, with the number of each one's sums. */
    seriesOf: (app_id: string, measure: ReportedMeasure, dimension: ReportedDimension) =>
      seriesOf.all(app_id, measure, dimension),
    /** From day to day, both included. */
    days: (series_id: number, from: DayNumber, until: DayNumber) => days.all(series_id, from, until),
  }
}

const nameOf = ({ measure, dimension, value }: Named): string => `${measure}\t${dimension}\t${value}`
const isSame = (a: Sum, b: Sum): boolean =>
  a.milli === b.milli && a.base_milli === b.base_milli && a.count === b.count

/** Everything that cells come to. Sums over several currencies are in the base currency alone. */
function sumsOf(cells: readonly Converted[]): Map<string, Named & Sum> {
  const sums = new Map<string, Named & Sum>()
  const plus = (measure: string, dimension: ReportedDimension, value: string, sum: Sum): void => {
    const name = nameOf({ measure, dimension, value })
    const there = sums.get(name) ?? { measure, dimension, value, milli: 0, base_milli: 0, count: 0 }
    there.milli += sum.milli
    there.base_milli += sum.base_milli
    there.count += sum.count
    sums.set(name, there)
  }
  for (const { measure, number, storefront, period, offer, currency, ...cell } of cells) {
    const { milli, count } = cell
    const base_milli = cell.base_milli ?? 0
    const inBase = { milli: 0, base_milli, count }
    const asCharged = { milli, base_milli, count }
    plus(measure, 'all', '', inBase)
    plus(measure, 'product', number, inBase)
    plus(measure, 'country', storefront, inBase)
    plus(measure, 'period', period, inBase)
    plus(measure, 'offer', offer, inBase)
    plus(measure, 'currency', currency, asCharged)
    plus(measure, 'fine', JSON.stringify([number, storefront, period, offer, currency]), asCharged)
    if (cell.base_milli === null) plus(measure, 'unconverted', currency, asCharged)
  }
  return sums
}
