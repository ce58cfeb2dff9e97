/** Fetches missing rates from one source after the other. */
import type { Clock } from '../clock.ts'
import { addDays } from '../days.ts'
import type { Store } from '../store/store.ts'
import { PEGS } from './currencies.ts'
import { judgeQuotes, type Rate, SourceFault } from './judging.ts'
import { peggedRate } from './pegs.ts'
import type { RateStore } from './rate_store.ts'
import { CARRIED_DAYS, dayAt, daysOf, gapsOf, type Span } from './series.ts'
import type { Source } from './source.ts'

/** The days of one request: the year for which Apple provides reports, and earlier days whose rates carry into it. */
const DAYS_PER_REQUEST = 366 + CARRIED_DAYS
/** The most currencies that the outcome lists by name. */
const MAX_NAMED = 12
/** The most rates in one unit of work, unless one currency has more. */
const SLICE = 400
/** The day the App Store opened. */
const APP_STORE_ON = '2008-07-10'
/** How long Windfall waits before it requests rates again that no source had. */
const REQUERY_AFTER_MS = 7 * 86_400_000

type Deps = {
  store: Store
  clock: Clock
  rateStore: RateStore
  sources: readonly Source[]
  settings: Readonly<{ fetch: boolean }>
  /** Every currency to fetch, without the dollar. */
  wantedCurrencies: () => readonly string[]
}

/** The state of one refresh. */
type RefreshRun = { signal: AbortSignal; added: number; faults: string[]; sources: Set<string> }

/** Opens the refresh. */
export function openRefresh({ store, clock, rateStore, sources, settings, wantedCurrencies }: Deps) {
  const oldestSale = store.prepare<[], { at: number | null }>(
    'select min(original_purchased_at) as at from customers',
  )
  /** When all sources failed to fill a gap, in milliseconds since the epoch, by `gapKey`. */
  const triedAtByGap = new Map<string, number>()

  /**
   * Fetches the missing rates up to yesterday (UTC), from each source in turn: central banks first. Never fetches
   * stored rates again.
   *
   * @returns the outcome as text.
   * @throws Error with the outcome if a source failed and rates are missing because of that.
   */
  async function run(signal: AbortSignal): Promise<string> {
    const refreshRun: RefreshRun = { signal, added: 0, faults: [], sources: new Set() }
    const spans = yearsOf(fullSpan())
    let isHealthy = true
    if (settings.fetch) for (const span of spans) isHealthy = (await fill(span, refreshRun)) && isHealthy
    for (const span of spans) await fillPegs(span, refreshRun)
    const unfilled = wantedCurrencies().filter((currency) =>
      spans.some((span) => gapsIn(currency, span, false).length > 0),
    )
    const outcome = outcomeText(refreshRun, unfilled)
    if (!isHealthy) throw new Error(outcome)
    return outcome
  }

  /** From the first known sale, at least a year ago, to yesterday. */
  function fullSpan(): Span {
    const until_on = addDays(dayAt(clock()), -1)
    const year = addDays(until_on, 1 - DAYS_PER_REQUEST)
    const at = oldestSale.get()?.at ?? null
    const sale = at === null ? year : addDays(dayAt(at), -CARRIED_DAYS)
    const from_on = sale < APP_STORE_ON ? APP_STORE_ON : sale
    return { from_on: from_on < year ? from_on : year, until_on }
  }

  /** Fetches the missing rates of a year; false if a source failed and rates are missing because of that. */
  async function fill(span: Span, refreshRun: RefreshRun): Promise<boolean> {
    const faults = refreshRun.faults.length
    // A latest day without a rate is a gap only until a source has answered: the source may publish it late.
    let unanswered = new Set(wantedCurrencies())
    for (const source of sources) {
      const missing = missingIn(span, unanswered)
      if (missing.size === 0) return true
      refreshRun.signal.throwIfAborted()
      unanswered = (await fetchFrom(source, missing, refreshRun)) ?? unanswered
    }
    const unfilled = [...missingIn(span, unanswered).keys()]
    if (refreshRun.faults.length > faults) return unfilled.every((currency) => PEGS[currency] !== undefined)
    for (const currency of unfilled) {
      for (const gap of gapsIn(currency, span, false)) triedAtByGap.set(gapKey(currency, gap), clock())
    }
    return true
  }

  /** Stores the rates of one source. Returns the currencies whose rates were refused; null if the source failed. */
  async function fetchFrom(
    source: Source,
    missing: Map<string, Span>,
    refreshRun: RefreshRun,
  ): Promise<Set<string> | null> {
    const spans = [...missing.values()]
    const requested = {
      from_on: spans.map(({ from_on }) => from_on).reduce((a, b) => (a < b ? a : b)),
      until_on: spans.map(({ until_on }) => until_on).reduce((a, b) => (a > b ? a : b)),
    }
    try {
      const quotes = await source.fetchQuotes(requested, [...missing.keys()], refreshRun.signal)
      const own = quotes.filter(({ currency }) => missing.has(currency))
      const { rates, refusalByCurrency } = judgeQuotes(own, requested, rateStore.last)
      for (const [currency, fault] of refusalByCurrency)
        refreshRun.faults.push(`${source.name}: ${currency} ${fault}`)
      await storeRates(rates, source.name, refreshRun)
      return new Set(refusalByCurrency.keys())
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error
      refreshRun.faults.push(`${source.name}: ${error.message}`)
      return null
    }
  }

  /** Stores a few complete currencies at a time, so other writers do not wait long. */
  async function storeRates(rates: readonly Rate[], source: string, refreshRun: RefreshRun): Promise<void> {
    for (const slice of slicesOf([...Map.groupBy(rates, ({ currency }) => currency).values()])) {
      refreshRun.signal.throwIfAborted()
      const added = await store.commit(() =>
        slice.reduce((sum, own) => sum + rateStore.add(own, source).added, 0),
      )
      refreshRun.added += added
      if (added > 0) refreshRun.sources.add(source)
    }
  }

  async function fillPegs(span: Span, refreshRun: RefreshRun): Promise<void> {
    const rates = Object.keys(PEGS).flatMap((currency) =>
      gapsIn(currency, span, false)
        .flatMap(daysOf)
        .flatMap((on) => peggedRate(currency, on, euroOn(on)) ?? []),
    )
    await storeRates(rates, 'peg', refreshRun)
  }

  function euroOn(on: string): number | null {
    const row = rateStore.last('EUR', on)
    return row?.rated_on === on ? row.per_usd_nano : null
  }

  /** The days from the first to the last gap, by currency. `strict` currencies also lack unpublished latest days. */
  function missingIn(span: Span, strict: ReadonlySet<string>): Map<string, Span> {
    const missing = new Map<string, Span>()
    for (const currency of wantedCurrencies()) {
      const gaps = gapsIn(currency, span, strict.has(currency)).filter((gap) => !wasTried(currency, gap))
      const [first, last] = [gaps[0], gaps.at(-1)]
      if (first && last) missing.set(currency, { from_on: first.from_on, until_on: last.until_on })
    }
    return missing
  }

  function gapsIn(currency: string, span: Span, strict: boolean): Span[] {
    // A rate just outside the span can carry over into it.
    const [before, after] = [addDays(span.from_on, -CARRIED_DAYS), addDays(span.until_on, CARRIED_DAYS)]
    const days = rateStore.days(currency, before, after)
    const [oldest = span.from_on, newest = span.from_on] = [days[0], days.at(-1)]
    const coveredSpan = {
      from_on: oldest < span.from_on ? oldest : span.from_on,
      until_on: newest > span.until_on ? newest : span.until_on,
    }
    const gaps = gapsOf(days, coveredSpan).flatMap((gap) => clipped(gap, span))
    const isLate = strict && days.length > 0 && newest < span.until_on
    if (!isLate || gaps.at(-1)?.until_on === span.until_on) return gaps
    return [...gaps, ...clipped({ from_on: addDays(newest, 1), until_on: span.until_on }, span)]
  }

  const gapKey = (currency: string, { from_on, until_on }: Span) => `${currency} ${from_on} ${until_on}`

  function wasTried(currency: string, gap: Span): boolean {
    const tried_at = triedAtByGap.get(gapKey(currency, gap))
    return tried_at !== undefined && clock() < tried_at + REQUERY_AFTER_MS
  }

  function outcomeText({ added, faults, sources: from }: RefreshRun, unfilled: readonly string[]): string {
    const parts = [added === 0 ? 'no new rates' : `${added} new rates from ${[...from].join(', ')}`]
    if (!settings.fetch) parts.push('rates.fetch is off')
    const missingText = unfilled.length > MAX_NAMED ? `${unfilled.length} currencies` : unfilled.join(', ')
    if (unfilled.length > 0) parts.push(`days without a rate: ${missingText}`)
    return [...parts, ...faults].join('; ')
  }

  return { run }
}

/** Splits a span into years, newest first. */
function yearsOf({ from_on, until_on }: Span): Span[] {
  const years: Span[] = []
  for (let end = until_on; end >= from_on; end = addDays(end, -DAYS_PER_REQUEST)) {
    const start = addDays(end, 1 - DAYS_PER_REQUEST)
    years.push({ from_on: start < from_on ? from_on : start, until_on: end })
  }
  return years
}

function clipped(gap: Span, span: Span): Span[] {
  const from_on = gap.from_on < span.from_on ? span.from_on : gap.from_on
  const until_on = gap.until_on > span.until_on ? span.until_on : gap.until_on
  return from_on <= until_on ? [{ from_on, until_on }] : []
}

/** Groups currencies into slices of at most `SLICE` rates, or of one currency with more. */
function slicesOf(groups: readonly (readonly Rate[])[]): (readonly Rate[])[][] {
  const slices: (readonly Rate[])[][] = []
  let room = 0
  for (const group of groups) {
    if (room < group.length) {
      slices.push([])
      room = SLICE
    }
    slices.at(-1)?.push(group)
    room -= group.length
  }
  return slices
}
