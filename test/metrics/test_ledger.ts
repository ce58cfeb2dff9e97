/** A ledger made by hand: posts facts to Windfall as Apple does, and reads metrics through its API. */
import { randomUUID } from 'node:crypto'
import type { Point, Series } from '../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../src/metrics/series/series.ts'
import { dataBody, outerPayload, renewalPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp } from '../helpers.ts'

type Fields = Record<string, unknown>

export const at = (text: string): number => Date.parse(text.length === 10 ? `${text}T12:00:00Z` : text)

/** Long before the facts of tests. */
const HEARD_AT = Date.UTC(2023, 6, 1)

type LedgerOptions = {
  heard_at?: number | null
  time_zone?: string
  currency?: string
  rates?: readonly string[]
  env?: Record<string, string>
}

/**
 * A server whose clock is at noon of 2026-06-01 (UTC). `heard_at`: when Apple's test notifications arrived, by default
 * long before all facts; null: never. `rates`: lines of `date,currency,rate`, for one dollar. `env`: settings.
 */
export async function openTestLedger(options: LedgerOptions = {}) {
  const { time_zone = 'UTC', currency = 'USD', rates = [], env = {}, heard_at = HEARD_AT } = options
  const app = await openTestApp({ env, ...(heard_at !== null && { heard_at }) })
  const { store, organizations, rates: rateStore } = app.windfall
  await store.commit(() => organizations.declare([{ ...app.organization, time_zone, currency }]))
  await app.windfall.metrics.resume()
  await app.windfall.metrics.whenCurrent()
  if (rates.length > 0) {
    const read = rateStore.readCsv(['date,currency,rate', ...rates].join('\n'), 'USD')
    await store.commit(() => rateStore.importRates(read))
  }
  const token = await app.token()

  /** Transaction `number` of lineage `id`, bought on one day and lasting until another. */
  async function notifyTransaction(
    id: string,
    number: number,
    from: string,
    to: string | null,
    more: Fields = {},
    renewal: Fields = {},
    notificationType = 'SUBSCRIBED',
  ) {
    const original = `${id}000`
    const fields = {
      transactionId: `${id}00${number}`,
      originalTransactionId: original,
      productId: 'monthly',
      purchaseDate: at(from),
      originalPurchaseDate: at(from),
      signedDate: at(from),
      price: 9990,
      expiresDate: to === null ? undefined : at(to),
      appTransactionId: `70400000${id}`,
      transactionReason: number === 0 ? 'PURCHASE' : 'RENEWAL',
      ...more,
    }
    const signed = { originalTransactionId: original, signedDate: fields.signedDate, ...renewal }
    const body = dataBody({
      signedTransactionInfo: app.authority.sign(transactionPayload(fields)),
      ...(to !== null && { signedRenewalInfo: app.authority.sign(renewalPayload(signed)) }),
    })
    const outer = { notificationUUID: randomUUID(), signedDate: fields.signedDate, notificationType }
    const { status } = await app.notify(outerPayload(body, outer))
    if (status !== 200) throw new Error(`it was refused with ${status}`)
  }

  const get = (path: string, bearer = token): Promise<Response> =>
    app.request(`/api/v1/${path}`, { headers: { authorization: `Bearer ${bearer}` } })

  /** The answer for a metric. */
  async function getMetric(path: string): Promise<SeriesAnswer> {
    const response = await get(`metrics/${path}`)
    const body = (await response.json()) as SeriesAnswer
    if (response.status !== 200) throw new Error(JSON.stringify(body))
    return body
  }

  return { app, notifyTransaction, get, getMetric }
}

/** The figures of a part (null: the total) of a value (null: none), by the first day of each bucket. */
export function figuresIn<Key extends keyof Point>(
  series: readonly Series[],
  key: Key,
  { part = null, value = null }: { part?: string | null; value?: string | null } = {},
): Record<string, Point[Key]> {
  const found = series.find((one) => one.part === part && one.value === value)
  return Object.fromEntries((found?.points ?? []).map((point) => [point.on, point[key]]))
}
export const months = <Value>(...values: Value[]): Record<string, Value> =>
  Object.fromEntries(values.map((value, index) => [`2026-0${3 + index}-01`, value]))
