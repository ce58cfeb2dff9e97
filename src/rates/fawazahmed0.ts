/** Rates of fawazahmed0's exchange-api: every currency, one small file a day, without a warranty. */
import * as v from 'valibot'
import { BASE } from './currencies.ts'
import { nanoOf } from './exact.ts'
import { fetchText } from './fetch.ts'
import { type Quote, SourceFault } from './judging.ts'
import { jsonOf } from './parse.ts'
import { daysOf } from './series.ts'
import type { Source } from './source.ts'

const Answer = v.object({ date: v.string(), usd: v.record(v.string(), v.unknown()) })

/** The first published day. */
const FIRST_DAY = '2024-03-02'
/** A request stops after this many consecutive days that failed. */
const MAX_FAULTS = 3

/** `{date}` in the addresses is replaced by the day. Uses `fallback` if `address` fails. Days may be missing. */
export function fawazahmed0(address: string, fallback: string): Source {
  async function fetchDay(on: string, currencies: readonly string[], signal: AbortSignal): Promise<Quote[]> {
    const path = `/v1/currencies/${BASE.toLowerCase()}`
    try {
      return parseOrNull(
        await fetchText(`${address.replace('{date}', on)}${path}.min.json`, signal),
        on,
        currencies,
      )
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error
      return parseOrNull(
        await fetchText(`${fallback.replace('{date}', on)}${path}.json`, signal),
        on,
        currencies,
      )
    }
  }

  return {
    name: 'fawazahmed0',
    async fetchQuotes(span, currencies, signal) {
      const quotes: Quote[] = []
      let faults = 0
      for (const on of daysOf(span).filter((day) => day >= FIRST_DAY)) {
        try {
          quotes.push(...(await fetchDay(on, currencies, signal)))
          faults = 0
        } catch (error) {
          faults += 1
          if (!(error instanceof SourceFault) || quotes.length === 0) throw error
          if (faults === MAX_FAULTS) return quotes
        }
      }
      return quotes
    },
  }
}

function parseOrNull(text: string | null, on: string, currencies: readonly string[]): Quote[] {
  return text === null ? [] : readFawazahmed0(text, on, currencies)
}

/** Parses the file of the day `on`. @throws SourceFault if the text is not that day's file. */
export function readFawazahmed0(text: string, on: string, currencies: readonly string[]): Quote[] {
  const file = v.safeParse(v.pipe(v.string(), v.rawTransform(jsonOf), Answer), text)
  if (!file.success) throw new SourceFault('the response has no rates of the dollar')
  const { date, usd } = file.output
  if (date !== on) throw new SourceFault(`the response to the request for ${on} is for ${date.slice(0, 40)}`)
  return currencies.flatMap((currency) => {
    const rate = usd[currency.toLowerCase()]
    return rate === undefined ? [] : { currency, on, per_usd_nano: nanoOf(String(rate)) }
  })
}
