/** What Frankfurter says: the rates of some hundred central banks, blended, a year in one request. */
import * as v from 'valibot'
import { BASE } from './currencies.ts'
import { nanoOf } from './exact.ts'
import { fetchText } from './fetch.ts'
import { type Quote, SourceFault } from './judging.ts'
import { jsonOf } from './parse.ts'
import type { Source } from './source.ts'

// Numbers are read as texts.
const Answer = v.array(
  v.object({ date: v.string(), base: v.literal(BASE), quote: v.string(), rate: v.string() }),
)

/**
 * `GET /v2/rates`, which answers with a row for each day and currency (frankfurter.dev). Where the first day has no
 * rate of its own, the one before it comes with its own earlier date.
 */
export function frankfurter(origin: string): Source {
  return {
    name: 'frankfurter',
    async ask({ from_on, until_on }, currencies, signal) {
      const query = new URLSearchParams({
        base: BASE,
        quotes: currencies.join(),
        from: from_on,
        to: until_on,
      })
      const text = await fetchText(`${origin}/v2/rates?${query}`, signal)
      return text === null ? [] : readFrankfurter(text)
    },
  }
}

/** @throws SourceFault where it is not what Frankfurter answers. */
export function readFrankfurter(text: string): Quote[] {
  const read = v.safeParse(v.pipe(v.string(), v.rawTransform(jsonOf), Answer), text, { abortEarly: true })
  if (!read.success) throw new SourceFault('it did not answer with rates of the dollar')
  return read.output.map(({ date, quote, rate }) => ({
    currency: quote,
    on: date,
    per_usd_nano: nanoOf(rate),
  }))
}
