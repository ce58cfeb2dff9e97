/** What we remember: the sums of the ledger and of Apple's reports, cut alike, so that they can be joined. */
import { setImmediate } from 'node:timers/promises'
import type { Environment } from '../../apple/payloads.ts'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../calendar.ts'
import type { Measure } from '../rows.ts'
import { PACIFIC, type SettingsOf } from '../settings.ts'
import type { ReportedMeasure } from './cells.ts'
import { type Cut, planOf } from './cut.ts'
import { openLedgerSums } from './ledger_sums.ts'
import { addTo, type DayLines } from './lines.ts'
import type { ReportedNames } from './names.ts'
import type { ProceedsOf } from './proceeds.ts'
import type { ReportedDimension, ReportedSums } from './sums.ts'

export type Zone = 'own' | 'pacific'
/** From day to day, both included. */
export type Range = { from: DayNumber; until: DayNumber }
export type LedgerAsk = Cut & Range & { app_id: string; environment: Environment; zone: Zone }
type ReportAsk = Cut & Range & { app_id: string }

/** Days read before others get their turn. */
const DAYS_AT_ONCE = 20_000
const PRICES_AT_ONCE = 500
export const BEGINNING: DayNumber = -100_000

export type Sources = ReturnType<typeof openSources>

/** An amount in the base currency of an app by the rate of a day; null where there is none. */
export type BaseOf = (app_id: string, milli: number, currency: string, day: DayNumber) => number | null

type Deps = {
  store: Store
  settingsOf: SettingsOf
  sums: ReportedSums
  names: ReportedNames
  proceeds: ProceedsOf
  baseOf: BaseOf
}

export function openSources({ store, settingsOf, sums, names, proceeds, baseOf }: Deps) {
  const shown = store.prepare<[], { generation: number }>(
    'select generation from metric_generations where made_up_to is null',
  )
  const ledgerSums = openLedgerSums(store, () => shown.get()?.generation ?? null)
  const asIs = (product: string): string => product

  /** What the ledger has of measures, each added as often as its weight says. Slices, between which others get a turn. */
  async function ledger(ask: LedgerAsk, weights: Partial<Record<Measure, number>>): Promise<DayLines> {
    const lines: DayLines = new Map()
    const turn = turns(DAYS_AT_ONCE)
    for (const [measure, weight] of Object.entries(weights) as [Measure, number][]) {
      for (const { id, key } of seriesOf(ask, measure)) {
        const days = ledgerSums.days(id, ask.from, ask.until)
        for (const { day, milli, base_milli, count } of days) {
          const amount = (ask.currency === null ? base_milli : milli) * weight
          addTo(lines, key, day, { milli: amount, count: count * weight })
        }
        await turn(days.length)
      }
    }
    return lines
  }

  /** The ledger's series that count for a question, and for what. */
  function seriesOf(ask: LedgerAsk, measure: Measure, isFine = false) {
    const own = settingsOf(ask.app_id)?.calendar.zone ?? PACIFIC
    const zone = ask.zone === 'own' ? own : PACIFIC
    const { dimension, keyOf } = planOf(ask, zone === own && !isFine, asIs)
    return ledgerSums.seriesOf({ ...ask, zone }, measure, dimension).flatMap(({ id, value }) => {
      const key = keyOf(value)
      return key === null ? [] : [{ id, key, value }]
    })
  }

  /**
   * What the developer gets of what the ledger has of a measure of money, and apart by how surely that is known. What no
   * rate is known for is left out, and in a currency of its own what is paid out in another.
   */
  async function proceedsOfLedger(ask: LedgerAsk, measure: Measure) {
    const found = { lines: new Map() as DayLines, basis: new Map() as DayLines }
    const turn = turns(PRICES_AT_ONCE)
    for (const { id, key, value } of seriesOf(ask, measure, true)) {
      const [product_id = '', storefront = '', , , currency = '']: string[] = JSON.parse(value)
      const days = ledgerSums.days(id, ask.from, ask.until)
      for (const { day, milli, count } of days) {
        const of = { app_id: ask.app_id, product_id, storefront, currency, milli, count, day }
        const got = proceeds.ofSum(of)
        const amount = { milli: shownIn(ask, got.milli, got.currency, day) ?? 0, count }
        addTo(found.lines, key, day, amount)
        addTo(found.basis, got.basis, day, amount)
      }
      await turn(days.length)
    }
    return found
  }

  function shownIn(ask: LedgerAsk, milli: number, currency: string, day: DayNumber): number | null {
    if (ask.currency !== null) return currency === ask.currency ? milli : null
    return baseOf(ask.app_id, milli, currency, day)
  }

  /** What the reports have of a measure. */
  function reports(ask: ReportAsk, measure: ReportedMeasure): DayLines {
    const nameOf = (number: string): string => names.productOf(ask.app_id, number)
    const { dimension, keyOf } = planOf(ask, true, nameOf)
    const lines: DayLines = new Map()
    for (const { id, value } of sums.seriesOf(ask.app_id, measure, dimension as ReportedDimension)) {
      const key = keyOf(value)
      if (key === null) continue
      for (const { day, milli, base_milli, count } of sums.days(id, ask.from, ask.until)) {
        addTo(lines, key, day, { milli: ask.currency === null ? base_milli : milli, count })
      }
    }
    return lines
  }

  return { ledger, proceedsOfLedger, reports }
}

/** Lets others have their turn each time so much was done. */
function turns(most: number): (done: number) => Promise<void> {
  let left = most
  return async (done) => {
    left -= done
    if (left > 0) return
    await setImmediate()
    left = most
  }
}
