/** Simulated publishers of exchange rates on one loopback port, with correct and faulty responses. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { APPLE_CURRENCIES } from '../../src/rates/currencies.ts'
import type { RateOrigins } from '../../src/rates/origins.ts'
import { daysApart, daysOf } from '../../src/rates/series.ts'

type Source = 'frankfurter' | 'fawazahmed0' | 'fawazahmed0_fallback' | 'ecb'
/** A response without rates. */
export type Replacement = { status?: number; headers?: Record<string, string>; body?: string } | 'nothing'

/** Cents of the currency for one dollar; the lira falls a little every day. */
const WORTH: Readonly<Record<string, number>> = {
  EUR: 80,
  GBP: 75,
  JPY: 15_000,
  VND: 2_600_000,
  AED: 367.25,
  SAR: 375,
  QAR: 364,
}
const PEGGED = ['AED', 'SAR', 'QAR']

const dayNumber = (on: string): number => daysApart('1970-01-01', on)

/** The price of a dollar on a day, as publishers print it. */
export function costOn(currency: string, on: string): string {
  const cents = WORTH[currency] ?? 500
  if (PEGGED.includes(currency)) return String(cents / 100)
  return ((cents + (dayNumber(on) % 10)) / 100).toFixed(4)
}

export const isWorkingDay = (on: string): boolean => ![2, 3].includes(dayNumber(on) % 7)

const ECB_LACKS = 'AED BGN CLP COP EGP KZT NGN PEN PKR QAR RUB SAR TWD TZS USD VND'.split(' ')

/** Opens the publishers until the test ends. `mood` may be changed at any time. */
export async function openPublisher() {
  const requests: { source: Source; url: string }[] = []
  const faults: { instead: Partial<Record<Source, Replacement>>; lacks: string[]; until_on: string | null } =
    { instead: {}, lacks: [], until_on: null }
  const rate: { of: (source: Source, currency: string, on: string) => string } = {
    of: (_, currency, on) => costOn(currency, on),
  }
  const isPublished = (on: string) => isWorkingDay(on) && (faults.until_on === null || on <= faults.until_on)

  function frankfurter(url: URL): string {
    const span = { from_on: url.searchParams.get('from') ?? '', until_on: url.searchParams.get('to') ?? '' }
    const quotes = (url.searchParams.get('quotes') ?? '')
      .split(',')
      .filter((one) => !faults.lacks.includes(one))
    const rows = daysOf(span)
      .filter(isPublished)
      .flatMap((date) =>
        quotes.map(
          (quote) =>
            `{"date":"${date}","base":"USD","quote":"${quote}","rate":${rate.of('frankfurter', quote, date)}}`,
        ),
      )
    return `[${rows.join()}]`
  }

  function fawazahmed0(source: Source, on: string): string {
    const usd = APPLE_CURRENCIES.map((one) => `"${one.toLowerCase()}":${rate.of(source, one, on)}`)
    return `{"date":"${on}","usd":{${usd.join()}}}`
  }

  function ecb(url: URL): string {
    const span = {
      from_on: url.searchParams.get('startPeriod') ?? '',
      until_on: url.searchParams.get('endPeriod') ?? '',
    }
    const currencies = [...APPLE_CURRENCIES.filter((one) => !ECB_LACKS.includes(one) && one !== 'EUR'), 'USD']
    const rows = daysOf(span)
      .filter(isPublished)
      .flatMap((on) =>
        currencies.map((one) => {
          const perEuro = one === 'USD' ? 1.25 : Number(rate.of('ecb', one, on)) * 1.25
          return `EXR.D.${one}.EUR.SP00.A,D,${one},EUR,SP00,A,${on},${perEuro}`
        }),
      )
    const header = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE'
    return [header, 'EXR.D.CYP.EUR.SP00.A,D,CYP,EUR,SP00,A,2007-12-31,NaN', ...rows].join('\r\n')
  }

  function answer(source: Source, url: URL, on: string): string {
    if (source === 'frankfurter') return frankfurter(url)
    return source === 'ecb' ? ecb(url) : fawazahmed0(source, on)
  }

  function reply(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://publisher')
    const [, name = '', on = ''] = url.pathname.split('/')
    const source = name as Source
    requests.push({ source, url: url.href })
    const instead = faults.instead[source]
    if (instead === 'nothing') return void request.socket.destroy()
    response.writeHead(instead?.status ?? 200, instead?.headers)
    response.end(instead?.body ?? answer(source, url, on))
  }

  const server = createServer(reply)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const origins: RateOrigins = {
    frankfurter: `${origin}/frankfurter`,
    fawazahmed0: `${origin}/fawazahmed0/{date}`,
    fawazahmed0_fallback: `${origin}/fawazahmed0_fallback/{date}`,
    ecb: `${origin}/ecb`,
  }
  /** The number of requests to each publisher since the last call. */
  function takeRequestCounts(): Partial<Record<Source, number>> {
    const counts: Partial<Record<Source, number>> = {}
    for (const { source } of requests.splice(0)) counts[source] = (counts[source] ?? 0) + 1
    return counts
  }
  return { origins, faults, rate, requests, takeRequestCounts }
}
