/** Rates of Frankfurter: a blend of about a hundred central banks, up to a year in one request. */
import * as v from 'valibot'
import { BASE } from './currencies.ts'
import { nanoOf } from './exact.ts'
import { fetchText } from './fetch.ts'
import { type Quote, SourceFault } from './judging.ts'
import { jsonOf } from './parse.ts'
import type { Source } from './source.ts'

// `parseExactly` returns numbers as text.
const Answer = v.array(
  v.object({ date: v.string(), base: v.literal(BASE), quote: v.string(), rate: v.string() }),
)

/**
 * `GET /v2/rates` returns a row for each day and currency (frankfurter.dev). If the first day has no rate, it returns
 * the rate before it with its earlier date.
 */
export function frankfurter(origin: string): Source {
  return {
    name: 'frankfurter',
    async fetchQuotes({ from_on, until_on }, currencies, signal) {
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

/** Parses a response. @throws SourceFault if the text is not in Frankfurter's format. */
export function readFrankfurter(text: string): Quote[] {
  const parsed = v.safeParse(v.pipe(v.string(), v.rawTransform(jsonOf), Answer), text, { abortEarly: true })
  if (!parsed.success) throw new SourceFault('the response has no rates of the dollar')
  return parsed.output.map(({ date, quote, rate }) => ({
    currency: quote,
    on: date,
    per_usd_nano: nanoOf(rate),
  }))
}
