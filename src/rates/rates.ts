/** What we remember: what each currency cost on each day, and what an amount comes to in another. */
import type { Clock } from '../clock.ts'
import { addDays } from '../days.ts'
import { Refusal } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { readRates } from './csv.ts'
import { APPLE_CURRENCIES, BASE, isCurrency } from './currencies.ts'
import { convertMilli, ONE, rateText } from './exact.ts'
import type { Rate } from './judging.ts'
import { type AddedRates, openRateStore } from './rate_store.ts'
import { openRefresh } from './refresh.ts'
import { dayAt, gapsOf, isCarried, type Span } from './series.ts'
import { RATE_ORIGINS, type RateOrigins, sourcesAt } from './sources.ts'

/**
 * The rate that holds on a day. `rated_on` is the day it is from: weekends and holidays have that before them.
 * `is_final`: it will never be another, whatever is published or imported later.
 */
type RateOn = { rated_on: string; per_usd_nano: number; source: string; is_final: boolean }

/** An amount in another currency. `rated_on` is the older day of the two rates. */
type Converted = { milli: number; rated_on: string; is_final: boolean }

/** What is known of one currency. `per_usd` is a decimal number, null where no day has a rate; gaps are longer than one is carried. */
export type CurrencyRates = {
  currency: string
  per_usd: string | null
  oldest_on: string | null
  newest_on: string | null
  source: string | null
  gaps: Span[]
}

/** A rate of a file that is not what is known of its day, both for one US dollar. */
export type DifferingRate = { currency: string; on: string; written: string; known: string; source: string }
/** What became of a file, and how many days it had rates for. Of the `known` rates some are `differing`. */
export type ImportedRates = AddedRates & { days: number; differing: DifferingRate[] }
export type ShownRate = { rated_on: string; per_usd: string; source: string }

export type Rates = ReturnType<typeof openRates>

type Options = {
  store: Store
  clock: Clock
  /** Read anew at each refresh, so that a reload reaches it. */
  settings: Readonly<{ fetch: boolean }>
  /** Currencies that are wanted besides Apple's: what organizations count in. */
  currenciesInUse?: () => readonly string[]
  /** Only the demo and tests name others. */
  origins?: RateOrigins
}

/** Faults of a file that are told; more of them help nobody. */
const MAX_LISTED_FAULTS = 100
/** Two years of a dozen currencies. */
const MAX_CACHED_RATES = 10_000
const BEGINNING = '0000-01-01'
const END = '9999-12-31'

export function openRates({
  store,
  clock,
  settings,
  currenciesInUse = () => [],
  origins = RATE_ORIGINS,
}: Options) {
  const rateStore = openRateStore(store, clock)
  const wantedCurrencies = () =>
    [...new Set([...APPLE_CURRENCIES, ...currenciesInUse()])].filter((code) => code !== BASE).sort()
  const refresh = openRefresh({
    store,
    clock,
    rateStore,
    sources: sourcesAt(origins),
    settings,
    wantedCurrencies,
  })
  const summary = store.cached(['rates'], summaryOf)

  const known = store.cached(
    ['rates'],
    (name): RateOn | null => {
      const [currency = '', on = ''] = name.split(' ')
      const row = rateStore.last(currency, on)
      if (row === null) return null
      const { rated_on, per_usd_nano, source } = row
      return {
        rated_on,
        per_usd_nano,
        source,
        is_final: rated_on === on || isSettled(currency, rated_on, on),
      }
    },
    MAX_CACHED_RATES,
  )

  /** What holds for a currency on a day; null when nothing is known up to then. */
  function rateOn(currency: string, on: string): RateOn | null {
    if (currency === BASE) return { rated_on: on, per_usd_nano: Number(ONE), source: 'base', is_final: true }
    return known(`${currency} ${on}`)
  }

  function isSettled(currency: string, rated_on: string, on: string): boolean {
    const after = rateStore.next(currency, on)
    return after !== null && isCarried(rated_on, after.rated_on)
  }

  /**
   * An amount in thousandths of one currency as thousandths of another, at the rates of a day, rounded once, half to
   * even. A function of the amount, the day and the rates kept.
   *
   * @returns null where there is no rate: it is not converted, which is not zero.
   * @throws RangeError where the result is more than a number holds exactly.
   */
  function convert(amount_milli: number, currency: string, to: string, on: string): Converted | null {
    if (currency === to) return { milli: amount_milli, rated_on: on, is_final: true }
    const [from, into] = [rateOn(currency, on), rateOn(to, on)]
    if (from === null || into === null) return null
    return {
      milli: convertMilli(amount_milli, from.per_usd_nano, into.per_usd_nano),
      rated_on: from.rated_on < into.rated_on ? from.rated_on : into.rated_on,
      is_final: from.is_final && into.is_final,
    }
  }

  /**
   * The rates of a CSV file (`date,currency,rate`, each rate what one unit of `base` costs), for `keep`.
   *
   * @throws Refusal 400 `invalid_rates` that names every fault with its line.
   */
  function readCsv(text: string, base: string): ReadonlyMap<string, readonly Rate[]> {
    const { rates, faults } = readRates(text, base, { today: dayAt(clock()), known: rateStore })
    if (faults.length > 0) throw new Refusal(400, 'invalid_rates', faultsText(faults))
    return rates
  }

  /** Keeps what was read from a file, all at once, where no rate is known. To be called inside a unit of work. */
  function keep(rates: ReadonlyMap<string, readonly Rate[]>): ImportedRates {
    const total = { added: 0, known: 0, settled: 0 }
    const differing = [...rates.values()].flatMap(differencesOf)
    for (const own of rates.values()) {
      const done = rateStore.add(own, 'import')
      total.added += done.added
      total.known += done.known
      total.settled += done.settled
    }
    const days = new Set([...rates.values()].flatMap((own) => own.map(({ on }) => on))).size
    return { ...total, days, differing }
  }

  function differencesOf(own: readonly Rate[]): DifferingRate[] {
    const [first, final] = [own[0], own.at(-1)]
    if (first === undefined || final === undefined) return []
    const known = new Map(
      rateStore.rows(first.currency, first.on, final.on).map((row) => [row.rated_on, row]),
    )
    return own.flatMap(({ currency, on, per_usd_nano }) => {
      const row = known.get(on)
      if (row === undefined || row.per_usd_nano === per_usd_nano) return []
      const texts = { written: rateText(per_usd_nano), known: rateText(row.per_usd_nano) }
      return [{ currency, on, ...texts, source: row.source }]
    })
  }

  /**
   * Takes back a rate that came from a file, inside a unit of work; what was converted at it is counted anew.
   *
   * @throws Refusal 404 `unknown_rate` where the day has none, 409 `not_imported` where it came from elsewhere.
   */
  function remove(currency: string, on: string): ShownRate {
    const row = rateStore.last(currency, on)
    if (row?.rated_on !== on)
      throw new Refusal(404, 'unknown_rate', `there is no rate of ${currency} of ${on}`)
    if (row.source !== 'import') {
      const detail = `the rate of ${currency} of ${on} is from ${row.source}; only imported ones can be removed`
      throw new Refusal(409, 'not_imported', detail)
    }
    rateStore.remove(row)
    return { rated_on: on, per_usd: rateText(row.per_usd_nano), source: row.source }
  }

  /** Everything wanted or known, in order of its name, with the gaps between its first and its newest rate. */
  const list = (): CurrencyRates[] =>
    [...new Set([...wantedCurrencies(), ...rateStore.currencies()])]
      .sort()
      .map((currency) => summary(currency))

  /** The rates of one currency, newest first. @throws Refusal 404 `unknown_currency` */
  function show(currency: string, days: number): ShownRate[] {
    if (!isCurrency(currency)) throw new Refusal(404, 'unknown_currency', `${currency} is no currency`)
    const from = addDays(dayAt(clock()), -days)
    return rateStore
      .days(currency, from, END)
      .toReversed()
      .flatMap((on) => rateStore.last(currency, on) ?? [])
      .map(({ rated_on, per_usd_nano, source }) => ({ rated_on, per_usd: rateText(per_usd_nano), source }))
  }

  function summaryOf(currency: string): CurrencyRates {
    const days = rateStore.days(currency, BEGINNING, END)
    const [oldest_on, newest_on] = [days[0], days.at(-1)]
    const newest = rateStore.last(currency, END)
    if (oldest_on === undefined || newest_on === undefined || newest === null)
      return { currency, per_usd: null, oldest_on: null, newest_on: null, source: null, gaps: [] }
    const per_usd = rateText(newest.per_usd_nano)
    const gaps = gapsOf(days, { from_on: oldest_on, until_on: newest_on })
    return { currency, per_usd, oldest_on, newest_on, source: newest.source, gaps }
  }

  return {
    rateOn,
    convert,
    refresh: refresh.run,
    readCsv,
    keep,
    remove,
    list,
    show,
    onChange: rateStore.onChange,
  }
}

function faultsText(faults: readonly string[]): string {
  const more = faults.length - MAX_LISTED_FAULTS
  const listed = faults.slice(0, MAX_LISTED_FAULTS).map((fault) => `  ${fault}`)
  return ['nothing was imported:', ...listed, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n')
}
