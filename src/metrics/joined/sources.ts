/** What we remember: the sums of the ledger and of Apple's reports, cut alike, so that they can be joined. */
import type { Environment } from '../../apple/payloads.ts'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedMeasure } from '../reports/cells.ts'
import { addTo, type ValueLines } from '../reports/lines.ts'
import type { ReportedNames } from '../reports/names.ts'
import type { Commission, ProceedsOf } from '../reports/proceeds.ts'
import type { ReportedDimension, ReportedSums } from '../reports/sums.ts'
import type { DayLines, Line, Worth } from '../sums/day_sum_cache.ts'
import { type Cut, planOf } from '../sums/dimension_plan.ts'
import type { Generation } from '../upkeep/generations.ts'

export type Zone = 'own' | 'pacific'
/** From day to day, both included. */
export type Range = { from: DayNumber; until: DayNumber }
/** `shown`: the generation that is read. `has_before`: all that went before the first day, too, on the day before it. */
export type LedgerAsk = Cut &
  Range & { shown: Generation; app_id: string; environment: Environment; zone: Zone; has_before?: boolean }
/** By value of the split, and apart by how surely it is known. */
type ProceedsLines = { lines: ValueLines; basis: ValueLines }
type ReportAsk = Cut & Range & { shown: Generation; app_id: string }

export type Sources = ReturnType<typeof openSources>

/** An amount in a base currency by the rate of a day; null where there is none. */
export type BaseOf = (base: string, milli: number, currency: string, day: DayNumber) => number | null

type Deps = {
  store: Store
  sums: ReportedSums
  lines: DayLines
  names: ReportedNames
  proceeds: ProceedsOf
  commission: Commission
  baseOf: BaseOf
}

export function openSources({ store, sums, lines, names, ...known }: Deps) {
  const { proceeds, commission, baseOf } = known
  const version = store.remembering(['reported_prices', 'rates'], () => ({}))

  /** What the ledger has of measures, each added as often as its weight says. */
  async function ledger(ask: LedgerAsk, weights: Partial<Record<Measure, number>>): Promise<ValueLines> {
    const { zone, isOwn } = zoneOf(ask)
    const { name, dimension, keyOf } = planOf(ask, isOwn)
    const cut = { name, keyOf, is_original: ask.currency !== null, has_before: ask.has_before === true }
    const found: ValueLines = new Map()
    for (const [measure, weight] of Object.entries(weights) as [Measure, number][]) {
      const place = { ...placeOf(ask), zone, measure, dimension }
      const { from, of } = await lines.read(place, cut, ask.from)
      for (const [key, line] of of) addLine(found, key, { line, from, weight }, ask)
    }
    return found
  }

  /**
   * What the developer gets of what the ledger has of a measure of money, and apart by how surely that is known. What no
   * rate is known for is left out, and in a currency of its own what is paid out in another.
   */
  async function proceedsOfLedger(ask: LedgerAsk, measure: Measure): Promise<ProceedsLines> {
    const { zone } = zoneOf(ask)
    const { name, keyOf } = planOf(ask, false)
    const cut = {
      name: JSON.stringify(['proceeds', name, commission]),
      keyOf,
      is_original: true,
      has_before: ask.has_before === true,
      worth: worthFor(ask),
    }
    const found: ProceedsLines = { lines: new Map(), basis: new Map() }
    const place = { ...placeOf(ask), zone, measure, dimension: 'fine' as const }
    const { from, of } = await lines.read(place, cut, ask.from)
    for (const [key, line] of of) {
      const [basis = '', value = ''] = key.split('\n')
      addLine(found.lines, value, { line, from, weight: 1 }, ask)
      addLine(found.basis, basis, { line, from, weight: 1 }, ask)
    }
    return found
  }

  /** What is left of a day's sum of every dimension, apart by how surely that is known. */
  function worthFor(ask: LedgerAsk): Worth {
    const { app_id } = ask
    return {
      version: () => version(''),
      of({ value, key, day }, { milli, count }) {
        const [product_id = '', storefront = '', , , currency = '']: string[] = JSON.parse(value)
        const got = proceeds.ofSum({ app_id, product_id, storefront, currency, milli, count, day })
        const milliShown = shownIn(ask, got.milli, got.currency, day) ?? 0
        return { key: `${got.basis}\n${key}`, sum: { milli: milliShown, count } }
      },
    }
  }

  function zoneOf(ask: LedgerAsk): { zone: string; isOwn: boolean } {
    const own = ask.shown.time_zone
    return ask.zone === 'own' || own === PACIFIC
      ? { zone: own, isOwn: true }
      : { zone: PACIFIC, isOwn: false }
  }

  function shownIn(ask: LedgerAsk, milli: number, currency: string, day: DayNumber): number | null {
    if (ask.currency !== null) return currency === ask.currency ? milli : null
    return baseOf(ask.shown.currency, milli, currency, day)
  }

  /** What the reports have of a measure. */
  function reports(ask: ReportAsk, measure: ReportedMeasure): ValueLines {
    const nameOf = (number: string): string => names.productOf(ask.app_id, number)
    const { dimension, keyOf } = planOf(ask, true, nameOf)
    const found: ValueLines = new Map()
    const place = { generation: ask.shown.id, app_id: ask.app_id }
    for (const { id, value } of sums.seriesOf(place, measure, dimension as ReportedDimension)) {
      const key = keyOf(value)
      if (key === null) continue
      for (const { day, milli, base_milli, count } of sums.days(id, ask.from, ask.until)) {
        addTo(found, key, day, { milli: ask.currency === null ? base_milli : milli, count })
      }
    }
    return found
  }

  return { ledger, proceedsOfLedger, reports }
}

const placeOf = ({ shown, app_id, environment }: LedgerAsk) => ({ generation: shown.id, app_id, environment })

type Kept = { line: Line; from: DayNumber; weight: number }

/** Adds the days of a line that are asked for, and all that went before on the day before the first. */
function addLine(
  to: ValueLines,
  key: string,
  { line, from, weight }: Kept,
  { has_before, ...ask }: LedgerAsk,
): void {
  const before = has_before ? { ...line.before } : null
  const end = Math.min(line.days, ask.until - from + 1)
  for (let at = 0; at < end; at += 1) {
    const [milli, count] = [line.milli[at] ?? 0, line.count[at] ?? 0]
    if (milli === 0 && count === 0) continue
    if (from + at >= ask.from) addTo(to, key, from + at, { milli: milli * weight, count: count * weight })
    else if (before) {
      before.milli += milli
      before.count += count
    }
  }
  if (before === null || (before.milli === 0 && before.count === 0)) return
  addTo(to, key, ask.from - 1, { milli: before.milli * weight, count: before.count * weight })
}
