/** Exchange rates: conversion of amounts, refresh, import and removal. */
import type { Clock } from '../clock.ts'
import { addDays } from '../days.ts'
import { Refusal } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { openConversion, type RateOn } from './conversion.ts'
import { readRates } from './csv.ts'
import { APPLE_CURRENCIES, BASE, isCurrency } from './currencies.ts'
import { NANO_PER_UNIT, rateText } from './exact.ts'
import type { Rate } from './judging.ts'
import { RATE_ORIGINS, type RateOrigins } from './origins.ts'
import { type AddedRates, openRateStore } from './rate_store.ts'
import { openRefresh } from './refresh.ts'
import { dayAt, gapsOf, isCarried, type Span } from './series.ts'
import { sourcesAt } from './sources.ts'

/**
 * A summary of one currency. `per_usd` is a decimal number, null without any rate. `gaps` are the spans without a rate
 * that are too long to use the rate before them.
 */
export type CurrencyRates = {
  currency: string
  per_usd: string | null
  oldest_on: string | null
  newest_on: string | null
  source: string | null
  gaps: Span[]
}

/** A rate of a file that differs from the stored one of its day, both for one US dollar. */
export type DifferingRate = { currency: string; on: string; written: string; known: string; source: string }
/** The outcome of an import, and the number of days in the file. `differing` are among the `known` ones. */
export type ImportedRates = AddedRates & { days: number; differing: DifferingRate[] }
export type ShownRate = { rated_on: string; per_usd: string; source: string }

export type Rates = ReturnType<typeof openRates>

type Options = {
  store: Store
  clock: Clock
  /** Read on each refresh: a reload can change it. */
  settings: Readonly<{ fetch: boolean }>
  /** Currencies to fetch in addition to Apple's: the base currencies of organizations. */
  currenciesInUse?: () => readonly string[]
  /** The origins of the sources. Only the demo and tests set this. */
  origins?: RateOrigins
}

/** The most faults of a file that are listed. */
const MAX_LISTED_FAULTS = 100
/** Two years of a dozen currencies. */
const MAX_CACHED_RATES = 10_000
/** The rate of the dollar on every day. */
const BASE_RATE = { per_usd_nano: Number(NANO_PER_UNIT), source: 'base', is_final: true }
const BEGINNING = '0000-01-01'
const END = '9999-12-31'

/** Opens the exchange rates. */
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

  /** The rate that applies to a currency on a day; null if there is none on or before it. */
  function rateOn(currency: string, on: string): RateOn | null {
    if (currency === BASE) return { rated_on: on, ...BASE_RATE }
    return known(`${currency} ${on}`)
  }

  function isSettled(currency: string, rated_on: string, on: string): boolean {
    const after = rateStore.next(currency, on)
    return after !== null && isCarried(rated_on, after.rated_on)
  }

  const { convert, conversion } = openConversion(rateOn)

  /**
   * Parses a CSV file (`date,currency,rate`, where each rate is the price of one unit of `base`) for `importRates`.
   *
   * @throws Refusal 400 `invalid_rates` that lists the faults with their lines.
   */
  function readCsv(text: string, base: string): ReadonlyMap<string, readonly Rate[]> {
    const { rates, faults } = readRates(text, base, { today: dayAt(clock()), known: rateStore })
    if (faults.length > 0) throw new Refusal(400, 'invalid_rates', faultsText(faults))
    return rates
  }

  /** Stores the rates of a file for days that have none. Call this inside a unit of work. */
  function importRates(rates: ReadonlyMap<string, readonly Rate[]>): ImportedRates {
    const total = { added: 0, known: 0, settled: 0 }
    const differing = [...rates.values()].flatMap(differencesOf)
    for (const own of rates.values()) {
      const outcome = rateStore.add(own, 'import')
      total.added += outcome.added
      total.known += outcome.known
      total.settled += outcome.settled
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
   * Removes an imported rate. Inside a unit of work. Amounts that used it are converted again.
   *
   * @throws Refusal 404 `unknown_rate` if the day has no rate; 409 `not_imported` if it is from another source.
   */
  function remove(currency: string, on: string): ShownRate {
    const row = rateStore.last(currency, on)
    if (row?.rated_on !== on)
      throw new Refusal(404, 'unknown_rate', `there is no rate of ${currency} on ${on}`)
    if (row.source !== 'import') {
      const detail = `the rate of ${currency} on ${on} is from ${row.source}; only imported rates can be removed`
      throw new Refusal(409, 'not_imported', detail)
    }
    rateStore.remove(row)
    return { rated_on: on, per_usd: rateText(row.per_usd_nano), source: row.source }
  }

  /** All currencies that are fetched or stored, by code, with the gaps between their oldest and newest rates. */
  const list = (): CurrencyRates[] =>
    [...new Set([...wantedCurrencies(), ...rateStore.currencies()])]
      .sort()
      .map((currency) => summary(currency))

  /** The rates of one currency, newest first. @throws Refusal 404 `unknown_currency` */
  function show(currency: string, days: number): ShownRate[] {
    if (!isCurrency(currency)) throw new Refusal(404, 'unknown_currency', `${currency} is not a currency`)
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
    conversion,
    refresh: refresh.run,
    readCsv,
    importRates,
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
