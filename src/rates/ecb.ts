/** Rates of the European Central Bank: about thirty currencies against the euro, on working days. */
import { quotientNano } from './exact.ts'
import { fetchText } from './fetch.ts'
import { type Quote, SourceFault } from './judging.ts'
import { rowsOf } from './parse.ts'
import type { Source } from './source.ts'

/** The reference rates of all currencies, as CSV, values only (data.ecb.europa.eu/help/api/data). */
export function ecb(origin: string): Source {
  return {
    name: 'ecb',
    async fetchQuotes({ from_on, until_on }, currencies, signal) {
      const query = new URLSearchParams({
        startPeriod: from_on,
        endPeriod: until_on,
        format: 'csvdata',
        detail: 'dataonly',
      })
      const text = await fetchText(`${origin}/service/data/EXR/D..EUR.SP00.A?${query}`, signal)
      if (text === null) return []
      return readEcb(text).filter(({ currency }) => currencies.includes(currency))
    },
  }
}

/**
 * Converts rates per euro to rates per dollar of the same day, including the euro's. Skips days without a value.
 *
 * @throws SourceFault if the text is not in the bank's format.
 */
export function readEcb(text: string): Quote[] {
  const { header, rows } = rowsOf(text)
  const wanted = ['currency', 'currency_denom', 'time_period', 'obs_value']
  if (text.trim() !== '' && !wanted.every((name) => header.includes(name)))
    throw new SourceFault('the response has no rates of the euro')
  const days = new Map<string, Map<string, string>>()
  for (const { cells, line } of rows) {
    if (cells?.currency_denom !== 'EUR')
      throw new SourceFault(`line ${line} of the response is not a rate of the euro`)
    const { currency = '', time_period: on = '', obs_value: rate = '' } = cells
    if (rate === '' || rate === 'NaN') continue
    const day = days.get(on) ?? new Map<string, string>()
    days.set(on, day.set(currency, rate))
  }
  return [...days].flatMap(([on, perEuro]) => perDollar(on, perEuro))
}

/** Without a rate of the dollar, the rates of a day cannot be converted. */
function perDollar(on: string, perEuro: ReadonlyMap<string, string>): Quote[] {
  const dollar = perEuro.get('USD')
  if (dollar === undefined) return []
  const others = [...perEuro, ['EUR', '1'] as const].filter(([currency]) => currency !== 'USD')
  return others.map(([currency, rate]) => ({ currency, on, per_usd_nano: quotientNano(rate, dollar) }))
}
