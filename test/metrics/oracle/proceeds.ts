/** The oracle’s proceeds: of each charge from the rows of Apple’s sales reports, and of refunds in the same proportion. */
import { STOREFRONTS } from '../../../src/demo/world/storefronts.ts'
import type { Store } from '../../../src/store/store.ts'
import { nearest } from './arithmetic.ts'
import { openDays } from './days.ts'
import type { Bought } from './facts.ts'
import { backBefore, isBack, type Money } from './money.ts'

type Basis = 'exact' | 'ratio' | 'estimated'
type Whole = { milli: number; currency: string; basis: Basis }
type Line = {
  day_on: string
  sku: string
  country: string
  currency: string
  price_milli: number
  units: number
  unit_proceeds_milli: number
  proceeds_currency: string
  proceeds_reason: string | null
}
type ToBase = (milli: number, currency: string, at: number) => number | null

/** Apple’s commission without a report, in percent. */
const COMMISSION = 30
const SOLD = `
  select d.day_on, sku, country, currency, price_milli, units, unit_proceeds_milli, proceeds_currency, proceeds_reason
  from import_days d join sales_days s on s.report_id = d.report_id
  where units > 0 and price_milli > 0 and unit_proceeds_milli > 0 and currency is not null
    and proceeds_currency is not null`

const isLater = ({ proceeds_reason }: Line): boolean => /after one year/i.test(proceeds_reason ?? '')

/** Lines of one price on one day: their units and proceeds, of the currency with the most units. */
function priceOf(lines: readonly Line[]) {
  const currencies = [...Map.groupBy(lines, ({ proceeds_currency }) => proceeds_currency)].map(
    ([currency, own]) => ({
      currency,
      day_on: own[0]?.day_on ?? '',
      price_milli: own[0]?.price_milli ?? 0,
      units: own.reduce((sum, { units }) => sum + units, 0),
      proceeds: own.reduce((sum, { units, unit_proceeds_milli }) => sum + units * unit_proceeds_milli, 0),
      isUniform: new Set(own.map(({ unit_proceeds_milli }) => unit_proceeds_milli)).size === 1,
    }),
  )
  return currencies.sort((a, b) => b.units - a.units || (a.currency < b.currency ? -1 : 1))[0] ?? null
}

const newestDay = (lines: readonly Line[]): Line[] => {
  const last = lines.reduce((day, { day_on }) => (day_on > day ? day_on : day), '')
  return lines.filter(({ day_on }) => day_on === last)
}

export function openProceeds(store: Store, toBase: ToBase) {
  const pacific = openDays('America/Los_Angeles')
  const storefronts = new Map(STOREFRONTS.map(({ code, country }) => [country, code]))
  const nameOf = (line: Line) => [line.sku, storefronts.get(line.country), line.currency].join(' ')
  const sold = Map.groupBy(store.prepare<[], Line>(SOLD).all(), nameOf)

  function wholeOf({ product_id, storefront, currency, price_milli, quantity, purchased_at }: Bought): Whole {
    const [on, price] = [pacific.dayOf(purchased_at), price_milli ?? 0]
    const lines = (sold.get([product_id, storefront, currency].join(' ')) ?? []).filter(
      ({ day_on }) => day_on <= on,
    )
    const unit = price % quantity === 0 ? price / quantity : price
    const ofUnit = lines.filter((line) => line.price_milli === unit)
    const years = [false, true].flatMap(
      (later) => priceOf(newestDay(ofUnit.filter((line) => isLater(line) === later))) ?? [],
    )
    const newest = years.filter(({ day_on }) => years.every((other) => other.day_on <= day_on))
    const isMixed = new Set(newest.map((one) => one.currency)).size > 1
    const used = isMixed ? newest.slice(0, 1) : newest
    const [first] = used
    if (first) {
      const units = used.reduce((sum, one) => sum + one.units, 0)
      const proceeds = used.reduce((sum, one) => sum + one.proceeds, 0)
      const milli = nearest(BigInt(price) * BigInt(proceeds), BigInt(units) * BigInt(unit))
      const isExact = newest.length === 1 && first.day_on === on && first.isUniform
      return { milli, currency: first.currency, basis: isExact ? 'exact' : 'ratio' }
    }
    const others = [
      ...Map.groupBy(newestDay(lines), (line) => `${line.price_milli} ${isLater(line)}`).values(),
    ]
    const other = others.flatMap((own) => priceOf(own) ?? []).sort(mostSold)[0]
    if (!other) {
      const milli = nearest(BigInt(price) * BigInt(100 - COMMISSION), 100n)
      return { milli, currency: currency ?? '', basis: 'estimated' }
    }
    const [part, all] = [
      BigInt(price) * BigInt(other.proceeds),
      BigInt(other.units) * BigInt(other.price_milli),
    ]
    return { milli: nearest(part, all), currency: other.currency, basis: 'estimated' }
  }

  /** The proceeds of one of a lineage’s amounts; null without a price. */
  return (one: Money, money: readonly Money[]) => {
    if (one.kind === 'unpriced') return null
    const whole = wholeOf(one.by)
    const base = whole.milli === 0 ? 0 : toBase(whole.milli, whole.currency, one.charged_at)
    // Without a rate, they are named in the currency in which Apple pays.
    const { currency } = base === null ? whole : one
    const own = whole.currency === currency ? whole.milli : 0
    const before = backBefore(one, money)
    const share = (all: number, milli: number): number =>
      nearest(BigInt(all) * BigInt(milli), BigInt(one.by.price_milli ?? 0))
    const partOf = (all: number): number =>
      isBack(one) ? share(all, before + one.milli) - share(all, before) : all
    const base_milli = base === null ? null : partOf(base)
    return { basis: whole.basis, currency, milli: partOf(own), base_milli }
  }
}

type Sold = { units: number; price_milli: number }
const mostSold = (a: Sold, b: Sold): number => b.units - a.units || a.price_milli - b.price_milli
