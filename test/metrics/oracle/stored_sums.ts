/** Compares every stored daily sum with the oracle. */
import type { Store } from '../../../src/store/store.ts'
import { daysOf, nextDay } from './days.ts'
import type { Oracle } from './oracle.ts'
import { riskAt } from './risks.ts'
import type { Simulated } from './simulated.ts'
import { dimensionsOf, type Part } from './sums.ts'

/** [milli as charged, base_milli, count] */
type Cell = [milli: number, base_milli: number, count: number]
/** By 'measure dimension value', by day. */
type Cells = Map<string, Map<string, Cell>>

type Row = { measure: string; dimension: string; value: string; day: number } & {
  [Key in 'milli' | 'base_milli' | 'count']: number
}

const LEVELS = ['mrr', 'trials', 'risk.will_cancel', 'risk.committed', 'risk.grace', 'risk.billing_retry']

/** The stored sums of one app in one zone. Levels are summed from the beginning, day by day. */
function storedCells(store: Store, app_id: string, zone: string, days: readonly string[]): Cells {
  const rows = store
    .prepare<unknown[], Row>(`
      select measure, dimension, value, day, milli, base_milli, count
      from metric_days join metric_series on id = series_id
      where app_id = ? and environment = 'production' and zone = ?
        and generation in (select id from metric_generations where state = 'shown')
      order by day`)
    .all(app_id, zone)
  const cells: Cells = new Map()
  for (const [name, own] of Map.groupBy(rows, nameOf)) {
    const byDay = new Map(own.map((row) => [dayName(row.day), cellOf(row)] as const))
    cells.set(name, LEVELS.includes(name.split(' ')[0] ?? '') ? runningTotals(byDay, days) : byDay)
  }
  return nothingEmpty(cells)
}

const nameOf = ({ measure, dimension, value }: Row) => `${measure} ${dimension} ${value}`
const cellOf = ({ milli, base_milli, count }: Row): Cell => [milli, base_milli, count]
const dayName = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10)

function runningTotals(byDay: ReadonlyMap<string, Cell>, days: readonly string[]): Map<string, Cell> {
  const total: Cell = [0, 0, 0]
  return new Map(
    days.map((on) => {
      for (const [index, amount] of (byDay.get(on) ?? []).entries())
        total[index] = (total[index] ?? 0) + amount
      return [on, [...total]]
    }),
  )
}

/** The same from the oracle: levels at the end of each day, all else as it happened. */
function oracleCells(oracle: Oracle, days: readonly string[], now: number, fineOnly = false): Cells {
  const cells: Cells = new Map()
  const add = (measure: string, on: string, part: Part) => {
    // Proceeds are stored by all dimensions together, and those without a rate by currency.
    const places = placesOf(part).filter(
      ([dimension]) =>
        !measure.startsWith('proceeds.') || dimension === 'fine' || dimension === 'unconverted',
    )
    for (const [dimension, value, cell] of places) {
      if (!fineOnly || dimension === 'fine') addTo(cells, `${measure} ${dimension} ${value}`, on, cell)
    }
  }
  for (const mark of oracle.marks) add(mark.measure, oracle.days.dayOf(mark.at), mark)
  for (const on of days) {
    const at = Math.min(oracle.days.endOf(on) - 1, now)
    const alive = oracle.concluded.flatMap(({ worths }) =>
      worths.filter(({ from, to }) => from <= at && at < to),
    )
    for (const worth of alive) {
      if (worth.is_paid) add('mrr', on, oracle.worthPart(worth))
      if (worth.kind === 'trial') add('trials', on, oracle.worthPart(worth))
    }
    for (const one of oracle.concluded) {
      const found = riskAt(one, at)
      if (found) add(`risk.${found.risk}`, on, oracle.worthPart(found.worth))
    }
  }
  return nothingEmpty(cells)
}

/** Sums over several currencies are in the base currency only. */
function placesOf(part: Part): (readonly [dimension: string, value: string, Cell])[] {
  const { product_id, storefront, period, offer, currency } = dimensionsOf(part)
  const inBase: Cell = [0, part.base_milli ?? 0, part.count]
  const asCharged: Cell = [part.milli, part.base_milli ?? 0, part.count]
  return [
    ['all', '', inBase],
    ['product', product_id, inBase],
    ['country', storefront, inBase],
    ['period', period, inBase],
    ['offer', offer, inBase],
    ['currency', currency, asCharged],
    ['fine', JSON.stringify([product_id, storefront, period, offer, currency]), asCharged],
    ...(part.base_milli === null ? [['unconverted', currency, asCharged] as const] : []),
  ]
}

function addTo(cells: Cells, name: string, on: string, amounts: Cell): void {
  const byDay = cells.get(name) ?? new Map<string, Cell>()
  const before = byDay.get(on) ?? [0, 0, 0]
  byDay.set(on, [before[0] + amounts[0], before[1] + amounts[1], before[2] + amounts[2]])
  cells.set(name, byDay)
}

function nothingEmpty(cells: Cells): Cells {
  const full = [...cells].map(
    ([name, byDay]) =>
      [name, new Map([...byDay].filter(([, cell]) => cell.some((one) => one !== 0)))] as const,
  )
  return new Map(full.filter(([, byDay]) => byDay.size > 0))
}

/** The differences of the two, as 'measure dimension value on day: kept …, the oracle says …'. */
function differencesOf(kept: Cells, oracle: Cells): string[] {
  const names = [...new Set([...kept.keys(), ...oracle.keys()])].sort()
  return names.flatMap((name) => {
    const [ours, theirs] = [kept.get(name), oracle.get(name)]
    const days = [...new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])].sort()
    return days.flatMap((on) => {
      const [a, b] = [ours?.get(on)?.join(' '), theirs?.get(on)?.join(' ')]
      return a === b ? [] : [`${name} on ${on}: kept ${a}, the oracle says ${b}`]
    })
  })
}

/** All differences of one app in one zone, and the number of cells. */
export function compared(
  { store, oracle, from, until }: Simulated,
  app_id: string,
  zone: string,
  own: string,
) {
  const expected = oracle({ app_id, time_zone: own })
  const shown =
    zone === own ? expected : withDays(oracle({ app_id, time_zone: own }), oracle({ time_zone: zone }))
  const days = daysOf({ from_on: shown.days.dayOf(from - 86_400_000), until_on: shown.days.dayOf(until) })
  const kept = storedCells(store, app_id, zone, [...days, nextDay(days.at(-1) ?? '')].slice(0, days.length))
  const found = oracleCells(shown, days, until, zone !== own)
  const cells = [...found.values()].reduce((sum, byDay) => sum + byDay.size, 0)
  return { differences: differencesOf(kept, found), cells, measures: measuresOf(found) }
}

/** Amounts by the days of one zone, counted in another: rates follow the organization’s days everywhere. */
const withDays = (amounts: Oracle, zone: Oracle): Oracle => ({ ...amounts, days: zone.days })

const measuresOf = (cells: Cells): string[] =>
  [...new Set([...cells.keys()].map((name) => name.split(' ')[0] ?? ''))].sort()
