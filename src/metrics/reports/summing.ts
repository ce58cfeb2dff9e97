/** Sums the reports of a Pacific day in a generation, in short units of work, one for each app. */
import type { Rates } from '../../rates/rates.ts'
import type { Store } from '../../store/store.ts'
import { dayNumber } from '../lineage/calendar.ts'
import type { Factors } from '../lineage/months.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import { addCell, type ReportCell, type ReportCells } from './cells.ts'
import type { DaySource, DueDay, ReportedDays } from './days.ts'
import { eventCells, offerLength } from './event_cells.ts'
import { levelCells, type OfferLengthOf } from './levels.ts'
import { moneyCells } from './money.ts'
import type { OfferLength, ReportedNames } from './names.ts'
import { addPrice, type Prices, type ReportedPrices } from './prices.ts'
import type { EventRows, ReportRowsRead, SalesRows, SubscriptionRows } from './report_rows.ts'
import type { ConvertedCell, ReportedSums } from './sums.ts'

type Deps = {
  store: Store
  rates: Rates
  generations: Generations
  days: ReportedDays
  rows: ReportRowsRead
  sums: ReportedSums
  prices: ReportedPrices
  names: ReportedNames
}

/** A write within a unit of work; `size` is its approximate number of sums. */
export type SumWrite = { size: number; write: () => void }

/** The cells of one app and day. */
type AppDayCells = {
  cells: ReportCells
  prices: Prices
  products: Map<string, string>
  lengths: Map<string, OfferLength>
}
/** The length assumed for each upfront offer, by JSON of app, product number and offer name. */
type Lengths = Map<string, string | null>

export function openSumming(deps: Deps) {
  const { store, rates, generations, days, rows, sums, prices, names } = deps
  const appsOf = store.prepare<[string], { id: number; app_id: string }>(
    'select id, app_id from reported_apps where organization_id = ? and app_id is not null',
  )

  /**
   * The writes that store the sums of a due day, in order. If the day’s reports change before the last write, the day
   * stays due. If the generation is dropped, the writes do nothing.
   */
  async function writesOf(due: DueDay): Promise<SumWrite[]> {
    const { target, organization_id, kind, day_on, touches } = due
    const source = days.sourceOn(organization_id, kind, day_on)
    const made_of = sourceFingerprint(source)
    const is_there = source?.holes === 0 ? 1 : 0
    const appIdByNumber = new Map(appsOf.all(organization_id).map(({ id, app_id }) => [id, app_id]))
    const lengths: Lengths = new Map()
    const found = is_there
      ? await read(due, reportsOf(source), appIdByNumber, lengths)
      : new Map<string, AppDayCells>()
    let is_provisional = 0
    const writes: SumWrite[] = []
    for (const app_id of new Set(appIdByNumber.values())) {
      const appDay = found.get(app_id) ?? emptyAppDay()
      const converted = [...appDay.cells.values()].map((cell) => convert(cell, target.currency, day_on))
      if (converted.some(({ is_final }) => !is_final)) is_provisional = 1
      writes.push({
        size: converted.length + appDay.prices.size,
        write: () => write(due, app_id, appDay, converted),
      })
    }
    const lengthData = lengths.size === 0 ? null : JSON.stringify([...lengths])
    function finish(): void {
      if (!isInUse(target)) return
      days.put({
        generation: target.id,
        kind,
        day_on,
        touches,
        is_there,
        is_provisional,
        made_of,
        lengths: lengthData,
      })
      // Marks the day due if an offer’s length became known since the reports were read.
      if (!areLengthsCurrent(lengthData)) days.touchIn(target, kind, day_on)
    }
    return [...writes, { size: 1, write: finish }]
  }

  const isInUse = ({ id }: Generation): boolean => generations.all().some((one) => one.id === id)

  async function read(
    { target, kind, day_on }: DueDay,
    reports: readonly number[],
    appIdByNumber: ReadonlyMap<number, string>,
    lengths: Lengths,
  ): Promise<Map<string, AppDayCells>> {
    const found = new Map<string, AppDayCells>()
    for (const report_id of reports) {
      for await (const some of rows.rowsOf(kind, report_id))
        addRows(found, some, appIdByNumber, { day_on, lengths, factors: target.factors })
    }
    return found
  }

  function addRows(
    found: Map<string, AppDayCells>,
    some: SubscriptionRows | SalesRows | EventRows,
    appIdByNumber: ReadonlyMap<number, string>,
    { day_on, lengths, factors }: { day_on: string; lengths: Lengths; factors: Factors },
  ): void {
    const of = (row: { reported_app_id: number }): [string, AppDayCells] | null => {
      const app_id = appIdByNumber.get(row.reported_app_id)
      if (app_id === undefined) return null
      const appDay = found.get(app_id) ?? emptyAppDay()
      found.set(app_id, appDay)
      return [app_id, appDay]
    }
    if (some.kind === 'sales')
      eachOf(some.rows, of, (row, app_id, appDay) => addSaleRow(appDay, app_id, day_on, row))
    else if (some.kind === 'subscription')
      eachOf(some.rows, of, (row, app_id, appDay) => addLevelRow(appDay, app_id, row, { lengths, factors }))
    else eachOf(some.rows, of, (row, _, appDay) => addEventRow(appDay, row))
  }

  function addLevelRow(
    appDay: AppDayCells,
    app_id: string,
    row: SubscriptionRows['rows'][number],
    { lengths, factors }: { lengths: Lengths; factors: Factors },
  ): void {
    for (const cell of levelCells(row, lengthsOf(app_id, lengths), factors)) addCell(appDay.cells, cell)
  }

  const lengthsOf =
    (app_id: string, used: Lengths): OfferLengthOf =>
    (number, offer_name) => {
      const period = names.lengthOf(app_id, number, offer_name)
      used.set(JSON.stringify([app_id, number, offer_name]), period)
      return period
    }

  function convert(cell: ReportCell, base: string, day_on: string) {
    if (cell.milli === 0) return { ...cell, base_milli: 0, is_final: true }
    const converted = rates.convert(cell.milli, cell.currency, base, day_on)
    return { ...cell, base_milli: converted?.milli ?? null, is_final: converted?.is_final ?? false }
  }

  function write(
    { target, kind, day_on }: DueDay,
    app_id: string,
    appDay: AppDayCells,
    cells: readonly ConvertedCell[],
  ): void {
    if (!isInUse(target)) return
    const day = dayNumber(day_on)
    sums.replace({ generation: target.id, app_id }, kind, day, cells)
    if (kind === 'sales') prices.replace(app_id, day, appDay.prices)
    for (const [number, product_id] of appDay.products) names.learnProduct(app_id, number, product_id)
    for (const lengthData of appDay.lengths.values()) names.learnLength(app_id, day, lengthData)
    if (appDay.lengths.size > 0) touchOutdatedOffers(target.organization_id)
  }

  /** Marks days due whose assumed offer lengths differ from the known lengths. */
  function touchOutdatedOffers(organization_id: string): void {
    for (const of of generations.ofOrganization(organization_id).filter(generations.isLive))
      for (const { kind, day_on, lengths } of days.withLengths(of.id))
        if (!areLengthsCurrent(lengths)) days.touchIn(of, kind, day_on)
  }

  /** Whether the assumed offer lengths equal the known lengths. */
  function areLengthsCurrent(lengths: string | null): boolean {
    const used = JSON.parse(lengths ?? '[]') as [string, string | null][]
    return used.every(([key, period]) => {
      const [app_id, number, offer_name] = JSON.parse(key) as [string, string, string | null]
      return names.lengthOf(app_id, number, offer_name) === period
    })
  }

  /** A text that changes whenever the source of a day’s sums changes. */
  const sourceFingerprint = (source: DaySource | null): string =>
    JSON.stringify([source?.reports, source?.holes, source?.apps])

  return { writesOf, sourceFingerprint }
}

const emptyAppDay = (): AppDayCells => ({
  cells: new Map(),
  prices: new Map(),
  products: new Map(),
  lengths: new Map(),
})

/** Calls `addRows` with each row of a connected app. */
function eachOf<Row extends { reported_app_id: number }>(
  rows: readonly Row[],
  of: (row: Row) => [string, AppDayCells] | null,
  addRows: (row: Row, app_id: string, appDay: AppDayCells) => void,
): void {
  for (const row of rows) {
    const found = of(row)
    if (found) addRows(row, ...found)
  }
}

const reportsOf = (source: DaySource | null): number[] => JSON.parse(source?.reports ?? '[]')

function addSaleRow(
  appDay: AppDayCells,
  app_id: string,
  day_on: string,
  row: SalesRows['rows'][number],
): void {
  for (const cell of moneyCells(row)) addCell(appDay.cells, cell)
  addPrice(appDay.prices, app_id, dayNumber(day_on), row)
  const isWithin = row.class === 'subscription' || row.class === 'in_app'
  if (isWithin && row.apple_id !== null) appDay.products.set(row.apple_id, row.sku)
}

function addEventRow(appDay: AppDayCells, row: EventRows['rows'][number]): void {
  for (const cell of eventCells(row)) addCell(appDay.cells, cell)
  const period = offerLength(row)
  if (period === null) return
  const { subscription_apple_id: number, offer_name } = row
  const offer = offer_name ?? ''
  appDay.lengths.set(`${number}\t${offer}`, { number, offer, period })
}
