/** What we remember: a publisher of exchange rates for the demo, on the loopback: rates of a made-up world. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { RateOrigins } from '../ledger/rates/sources.ts'

const DAY_MS = 86_400_000

/** About what a dollar costs; what is not here costs five. */
const WORTH: Readonly<Record<string, number>> = {
  ...{ AED: 3.6725, AUD: 1.52, BRL: 5.4, CAD: 1.38, CHF: 0.8, CNY: 7.1, DKK: 6.4, EUR: 0.86, GBP: 0.75 },
  ...{ HKD: 7.8, IDR: 16_400, INR: 88, JPY: 150, KRW: 1_400, MXN: 18.4, NOK: 10.1, NZD: 1.72, PLN: 3.65 },
  ...{ QAR: 3.64, RUB: 81, SAR: 3.75, SEK: 9.5, SGD: 1.29, THB: 32.4, TRY: 41.5, VND: 26_300, ZAR: 17.4 },
}
const PEGGED = new Set(['AED', 'QAR', 'SAR'])
/** Every currency goes up and down by so much, in its own time. */
const SWING = 0.04

function costOn(currency: string, day: number): string {
  const worth = WORTH[currency] ?? 5
  const phase = currency.charCodeAt(0) + 3 * currency.charCodeAt(1) + 7 * currency.charCodeAt(2)
  const swing = PEGGED.has(currency) ? 0 : SWING * Math.sin(day / (40 + (phase % 23)) + phase)
  return (worth * (1 + swing)).toFixed(6)
}

/** Rates of working days, as Frankfurter lists them. */
function rates(query: URLSearchParams): string {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? '') / DAY_MS)
  const quotes = (query.get('quotes') ?? '').split(',')
  const rows: string[] = []
  for (let day = from ?? Number.NaN; day <= (to ?? 0); day += 1) {
    // The first day of 1970 was a Thursday.
    if ([2, 3].includes(day % 7)) continue
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
    for (const quote of quotes)
      rows.push(`{"date":"${date}","base":"USD","quote":"${quote}","rate":${costOn(quote, day)}}`)
  }
  return `[${rows.join()}]`
}

function reply(request: IncomingMessage, response: ServerResponse): void {
  const url = URL.parse(request.url ?? '/', 'http://publisher')
  if (url?.pathname !== '/v2/rates') return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': 'application/json' }).end(rates(url.searchParams))
}

/** Opens the publisher. `origins` is where all sources of exchange rates are then. */
export async function openPublisher(): Promise<{ origins: RateOrigins; close(): Promise<void> }> {
  const server = createServer(reply)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const nowhere = `${origin}/nothing`
  return {
    origins: { frankfurter: origin, fawazahmed0: nowhere, fawazahmed0_fallback: nowhere, ecb: nowhere },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
