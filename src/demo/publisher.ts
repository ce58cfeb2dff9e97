/** A simulated publisher of exchange rates for the demo, on the loopback interface. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { RateOrigins } from '../rates/origins.ts'

const DAY_MS = 86_400_000

/** The approximate price of one US dollar in each of Apple's currencies. The publisher has no other rates. */
const PER_USD: Readonly<Record<string, number>> = {
  AED: 3.6725,
  AUD: 1.52,
  BRL: 5.4,
  CAD: 1.38,
  CHF: 0.8,
  CLP: 950,
  CNY: 7.1,
  COP: 4_000,
  CZK: 21,
  DKK: 6.4,
  EGP: 48,
  EUR: 0.86,
  GBP: 0.75,
  HKD: 7.8,
  HUF: 340,
  IDR: 16_400,
  ILS: 3.4,
  INR: 88,
  JPY: 150,
  KRW: 1_400,
  KZT: 530,
  MXN: 18.4,
  MYR: 4.2,
  NGN: 1_500,
  NOK: 10.1,
  NZD: 1.72,
  PEN: 3.5,
  PHP: 57,
  PKR: 281,
  PLN: 3.65,
  QAR: 3.64,
  RON: 4.4,
  RUB: 81,
  SAR: 3.75,
  SEK: 9.5,
  SGD: 1.29,
  THB: 32.4,
  TRY: 41.5,
  TWD: 30.5,
  TZS: 2_500,
  VND: 26_300,
  ZAR: 17.4,
}
const PEGGED = new Set(['AED', 'QAR', 'SAR'])
/** The amplitude of a rate's oscillation, as a fraction of its average. Each currency has a period of its own. */
const SWING = 0.04

function rateOn(currency: string, day: number): string | null {
  const euroRate = currency === 'BGN' ? rateOn('EUR', day) : null
  if (euroRate !== null) return (Number(euroRate) * 1.95583).toFixed(6)
  const average = PER_USD[currency]
  if (average === undefined) return null
  const phase = currency.charCodeAt(0) + 3 * currency.charCodeAt(1) + 7 * currency.charCodeAt(2)
  const swing = PEGGED.has(currency) ? 0 : SWING * Math.sin(day / (40 + (phase % 23)) + phase)
  return (average * (1 + swing)).toFixed(6)
}

/** The rates of the working days in a request, in Frankfurter's JSON format. */
function ratesJson(query: URLSearchParams): string {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? '') / DAY_MS)
  const quotes = (query.get('quotes') ?? '').split(',')
  const rows: string[] = []
  for (let day = from ?? Number.NaN; day <= (to ?? 0); day += 1) {
    // Day 0 is 1 January 1970, a Thursday. The remainders 2 and 3 are Saturday and Sunday.
    if ([2, 3].includes(day % 7)) continue
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
    for (const quote of quotes) {
      const rate = rateOn(quote, day)
      if (rate !== null) rows.push(`{"date":"${date}","base":"USD","quote":"${quote}","rate":${rate}}`)
    }
  }
  return `[${rows.join()}]`
}

function reply(request: IncomingMessage, response: ServerResponse): void {
  const url = URL.parse(request.url ?? '/', 'http://publisher')
  if (url?.pathname !== '/v2/rates') return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': 'application/json' }).end(ratesJson(url.searchParams))
}

/** Opens the publisher. `origins` replaces the origin of each source of rates. Only Frankfurter's origin has rates. */
export async function openPublisher(): Promise<{ origins: RateOrigins; close(): Promise<void> }> {
  const server = createServer(reply)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const notFound = `${origin}/nothing`
  return {
    origins: { frankfurter: origin, fawazahmed0: notFound, fawazahmed0_fallback: notFound, ecb: notFound },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
