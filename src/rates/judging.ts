/** What we compute: whether what a source of exchange rates says can be believed. */
import { isDay } from '../days.ts'
import { BASE, PEGS } from './currencies.ts'
import { nanoOf, rateText } from './exact.ts'
import { daysApart, type Span } from './series.ts'

/** On a day, so many billionths of the currency for one US dollar. `per_usd_nano` is null where it was no number. */
export type Quote = { currency: string; on: string; per_usd_nano: number | null }
export type Rate = Quote & { per_usd_nano: number }

/** Why a source cannot be believed, in words; the next one is asked. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault'
}

/** No currency of Apple's has ever moved so far between two rates; a mistaken unit (per 100 yen) does. */
const MAX_FACTOR = 10
/** A rate this much older says nothing about what one may be today. */
const COMPARED_DAYS = 31
const PERCENT_OFF_PEG = 5

/** Whether a rate is about what a peg says, both in billionths. */
export const isAtPeg = (per_usd_nano: number, expected_nano: number): boolean =>
  Math.abs(per_usd_nano - expected_nano) * 100 <= expected_nano * PERCENT_OFF_PEG

/** Whether two days are near enough for their rates to be compared. */
export const isNear = (one_on: string, other_on: string): boolean =>
  Math.abs(daysApart(one_on, other_on)) <= COMPARED_DAYS

/** `refused`: why, by currency. */
type JudgedQuotes = { rates: Rate[]; refused: Map<string, string> }

/**
 * What of an answer can be kept, oldest first within each currency: days before the span are what a source carries over, and left out.
 * A currency with an impossible rate is refused as a whole, in words; `lastBefore` gives the newest rate known on or
 * before a day.
 *
 * @throws SourceFault where nothing of it can be believed.
 */
export function judgeQuotes(
  quotes: readonly Quote[],
  span: Span,
  lastBefore: (currency: string, on: string) => { rated_on: string; per_usd_nano: number } | null,
): JudgedQuotes {
  for (const on of new Set(quotes.map((quote) => quote.on))) assertDay(on, span)
  assertPegs(quotes)
  const rates: Rate[] = []
  const refused = new Map<string, string>()
  for (const [currency, own] of byCurrency(quotes.filter(({ on }) => on >= span.from_on))) {
    const accepted: Rate[] = []
    const fault = faultIn(own, accepted, lastBefore)
    if (fault === null) rates.push(...accepted)
    else refused.set(currency, fault)
  }
  return { rates, refused }
}

function assertDay(on: string, { until_on }: Span): void {
  if (!isDay(on)) throw new SourceFault(`${JSON.stringify(on.slice(0, 40))} is no day`)
  if (on > until_on) throw new SourceFault(`it was asked until ${until_on} and told of ${on}`)
}

/** A base mistaken for another, or rates upside down, would pass for a strange day in all currencies but these. */
function assertPegs(quotes: readonly Quote[]): void {
  for (const { currency, on, per_usd_nano } of quotes) {
    const peg = PEGS[currency]
    if (peg?.anchor !== BASE || per_usd_nano === null) continue
    const expected = nanoOf(peg.rate) ?? 0
    if (isAtPeg(per_usd_nano, expected)) continue
    throw new SourceFault(
      `on ${on} a dollar costs ${rateText(per_usd_nano)} ${currency}, which is pegged at ${peg.rate}`,
    )
  }
}

const byDay = (a: Quote, b: Quote): number => (a.on < b.on ? -1 : a.on > b.on ? 1 : 0)

function byCurrency(quotes: readonly Quote[]): Map<string, Quote[]> {
  const found = Map.groupBy(quotes, ({ currency }) => currency)
  for (const own of found.values()) own.sort(byDay)
  return found
}

/** What is wrong with a currency's rates, in words; those that can be kept are added to `kept`. */
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
    const fault = faultBeside(before, on, per_usd_nano)
    if (fault !== null) return fault
    accepted.push({ currency, on, per_usd_nano })
  }
  return null
}

/** What is wrong with a rate beside an earlier or a later one, in words, or null. */
export function faultBeside(
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
