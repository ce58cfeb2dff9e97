/** Checks whether the rates of a source are plausible. */
import { isDay } from '../days.ts'
import { BASE, PEGS } from './currencies.ts'
import { nanoOf, rateText } from './exact.ts'
import { daysApart, type Span } from './series.ts'

/** Billionths of the currency for one US dollar, on a day. `per_usd_nano` is null if the source gave no number. */
export type Quote = { currency: string; on: string; per_usd_nano: number | null }
export type Rate = Quote & { per_usd_nano: number }

/** Why a response of a source cannot be used, as text for a person. Windfall then queries the next source. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault'
}

/** No currency of Apple's has moved by this factor between two rates; a wrong unit (per 100 yen) does. */
const MAX_FACTOR = 10
/** Rates further apart than this are not compared. */
const COMPARED_DAYS = 31
const PERCENT_OFF_PEG = 5

/** Whether a rate is within 5 % of a peg; both in billionths. */
export const isAtPeg = (per_usd_nano: number, expected_nano: number): boolean =>
  Math.abs(per_usd_nano - expected_nano) * 100 <= expected_nano * PERCENT_OFF_PEG

/** Whether two days are close enough to compare their rates. */
export const isNear = (one_on: string, other_on: string): boolean =>
  Math.abs(daysApart(one_on, other_on)) <= COMPARED_DAYS

/** `refusalByCurrency`: why the rates of a currency are refused. */
type JudgedQuotes = { rates: Rate[]; refusalByCurrency: Map<string, string> }

/**
 * The usable rates of a response, oldest first within each currency. Skips the days before the span: a source returns
 * one if the first day has no rate. Refuses all rates of a currency if one is impossible. `lastBefore` returns the
 * newest stored rate on or before a day.
 *
 * @throws SourceFault if the whole response is unusable.
 */
export function judgeQuotes(
  quotes: readonly Quote[],
  span: Span,
  lastBefore: (currency: string, on: string) => { rated_on: string; per_usd_nano: number } | null,
): JudgedQuotes {
  for (const on of new Set(quotes.map((quote) => quote.on))) assertDay(on, span)
  assertPegs(quotes)
  const rates: Rate[] = []
  const refusalByCurrency = new Map<string, string>()
  for (const [currency, own] of byCurrency(quotes.filter(({ on }) => on >= span.from_on))) {
    const accepted: Rate[] = []
    const fault = faultIn(own, accepted, lastBefore)
    if (fault === null) rates.push(...accepted)
    else refusalByCurrency.set(currency, fault)
  }
  return { rates, refusalByCurrency }
}

function assertDay(on: string, { until_on }: Span): void {
  if (!isDay(on)) throw new SourceFault(`${JSON.stringify(on.slice(0, 40))} is not a date`)
  if (on > until_on) throw new SourceFault(`the response to a request until ${until_on} has a rate of ${on}`)
}

/** Detects a wrong base or inverted rates, which only pegged currencies reveal with certainty. */
function assertPegs(quotes: readonly Quote[]): void {
  for (const { currency, on, per_usd_nano } of quotes) {
    const peg = PEGS[currency]
    if (peg?.anchor !== BASE || per_usd_nano === null) continue
    const expected = nanoOf(peg.rate) ?? 0
    if (isAtPeg(per_usd_nano, expected)) continue
    throw new SourceFault(
      `on ${on} one dollar costs ${rateText(per_usd_nano)} ${currency}, but it is pegged at ${peg.rate}`,
    )
  }
}

const byDay = (a: Quote, b: Quote): number => (a.on < b.on ? -1 : a.on > b.on ? 1 : 0)

function byCurrency(quotes: readonly Quote[]): Map<string, Quote[]> {
  const quotesByCurrency = Map.groupBy(quotes, ({ currency }) => currency)
  for (const own of quotesByCurrency.values()) own.sort(byDay)
  return quotesByCurrency
}

/** Why a currency's rates are refused; null if they are not. Adds the usable ones to `accepted`. */
function faultIn(
  quotes: readonly Quote[],
  accepted: Rate[],
  lastBefore: Parameters<typeof judgeQuotes>[2],
): string | null {
  for (const { currency, on, per_usd_nano } of quotes) {
    if (per_usd_nano === null) return `has no rate above zero on ${on}`
    const last = accepted.at(-1)
    if (last?.on === on) {
      if (last.per_usd_nano === per_usd_nano) continue
      return `has two rates on ${on}`
    }
    const before = last ? { rated_on: last.on, per_usd_nano: last.per_usd_nano } : lastBefore(currency, on)
    const fault = contradictionWith(before, on, per_usd_nano)
    if (fault !== null) return fault
    accepted.push({ currency, on, per_usd_nano })
  }
  return null
}

/** Why a rate contradicts an earlier or later one; null if it does not. */
export function contradictionWith(
  other: { rated_on: string; per_usd_nano: number } | null,
  on: string,
  per_usd_nano: number,
): string | null {
  if (other === null) return null
  const isAlike =
    per_usd_nano <= other.per_usd_nano * MAX_FACTOR && other.per_usd_nano <= per_usd_nano * MAX_FACTOR
  if (isAlike || !isNear(other.rated_on, on)) return null
  const verb = other.rated_on < on ? 'was' : 'is'
  return `is ${rateText(per_usd_nano)} on ${on} and ${verb} ${rateText(other.per_usd_nano)} on ${other.rated_on}`
}
