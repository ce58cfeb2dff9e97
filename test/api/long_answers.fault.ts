import { beforeEach, expect, test } from 'vitest'
import { verifyTransaction } from '../../src/apple/notification.ts'
import { NOW, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { isLong } from '../random.ts'
import { LONGEST_TURN_MS, longestTurn } from '../turn_times.ts'

const EVENTS = isLong ? 200_000 : 20_000
const READERS = 8
const CUSTOMERS = isLong ? 4_000 : 400
const DAY = 86_400_000

let app: TestApp
let bearer: { authorization: string }
beforeEach(async () => {
  app = await openTestApp()
  bearer = { authorization: `Bearer ${await app.token()}` }
})

/** Fills the feed with renewals, as a year of a busy app does. */
async function fillFeed(count: number): Promise<void> {
  const { store, feed, apps } = app.windfall
  const [{ id: app_id, organization_id } = { id: '', organization_id: '' }] = apps.list()
  const data = { product_id: 'lantern.pro.monthly', country: 'USA', price: { milli: 4_990, currency: 'USD' } }
  for (let n = 0; n < count; n += 1_000)
    await store.commit(() => {
      for (let k = n; k < n + 1_000; k += 1)
        feed.append({
          organization_id,
          app_id,
          environment: 'production',
          type: 'subscription.renewed',
          origin: 'live',
          customer_id: null,
          subject: `20000000${k}`,
          cause: `cause-${k}`,
          occurred_at: NOW + k,
          signed_at: NOW + k,
          data: () => ({ ...data, number: k }),
        })
    })
}

/** Reads a stream of the feed from after a seq to its head; how many events it had. */
async function replay(after: number): Promise<number> {
  const headers = { ...bearer, 'last-event-id': String(after) }
  const response = await app.request('/api/v1/events/stream', { headers })
  const reader = response.body?.getReader()
  const last = `\nid: ${EVENTS}\n`
  let messages = 0
  for (let tail = ''; ; ) {
    const bytes = Buffer.from((await reader?.read())?.value ?? [])
    for (let at = bytes.indexOf('\ndata: '); at !== -1; at = bytes.indexOf('\ndata: ', at + 1)) messages += 1
    tail = `${tail}${bytes.subarray(-2_000).toString('latin1')}`.slice(-4_000)
    if (tail.includes(last)) break
  }
  await reader?.cancel()
  return messages
}

test(`${EVENTS} events are replayed, alone and to ${READERS} readers at once, and no turn of the event loop is long`, {
  timeout: 600_000,
}, async () => {
  await fillFeed(EVENTS)
  let counts: number[] = []
  const longest = await longestTurn(async () => {
    const one = await replay(0)
    const tail = Math.floor(EVENTS * 0.95)
    counts = [one, ...(await Promise.all(Array.from({ length: READERS }, () => replay(tail))))]
  })
  expect(counts).toEqual([EVENTS, ...Array(READERS).fill(EVENTS * 0.05)])
  expect(longest).toBeLessThan(LONGEST_TURN_MS)
})

/** Customers who bought first on one of the last 400 days each, and paid for one renewal. */
async function fillShop(): Promise<void> {
  const { store, ledger, apps, verifier } = app.windfall
  await app.hear(NOW - 420 * DAY)
  const [own] = apps.list()
  const payloads = Array.from({ length: CUSTOMERS }, (_, n) => {
    const bought_at = NOW - (1 + (n % 400)) * DAY
    return [0, 1].map((number) => {
      const at = bought_at + number * 30 * DAY
      return transactionPayload({
        transactionId: `${n}00${number}`,
        originalTransactionId: `${n}000`,
        appTransactionId: `70${n}`,
        transactionReason: number === 0 ? 'PURCHASE' : 'RENEWAL',
        purchaseDate: at,
        signedDate: at,
        expiresDate: at + 30 * DAY,
        originalPurchaseDate: bought_at,
      })
    })
  })
  const past = payloads.flat().filter(({ signedDate }) => Number(signedDate) <= NOW)
  for (let n = 0; n < past.length; n += 200) {
    const some = past.slice(n, n + 200)
    const signed = await Promise.all(some.map((one) => verifyTransaction(verifier, app.authority.sign(one))))
    await Promise.all(
      signed.map((one) =>
        store.commit(() => own && ledger.applyTransaction(own, one, { origin: 'live', source: 'device' })),
      ),
    )
  }
}

/** Asks for this eight times at once; the bodies, and the longest turn of the event loop meanwhile. */
async function requestTogether(path: string) {
  let bodies: string[] = []
  const owner = await app.signIn()
  const longest = await longestTurn(async () => {
    const request = async () => (await app.request(path, { headers: owner })).text()
    bodies = await Promise.all(Array.from({ length: READERS }, request))
  })
  return { bodies, longest }
}

test('produces eight of the largest tables concurrently without a long turn of the event loop', async () => {
  await fillShop()
  await app.windfall.metrics.whenCurrent()
  const from = new Date(NOW - 399 * DAY).toISOString().slice(0, 10)
  const days = Array.from({ length: 50 }, (_, day) => day * 8).join(',')
  const questions = {
    ltv: `cohorts?metric=ltv&by=day&from=${from}&days=${days}`,
    'ltv as CSV': `cohorts.csv?metric=ltv&by=day&from=${from}&days=${days}`,
    retention: `cohorts?metric=retention&by=day&from=${from}`,
    customers: 'customers.csv?',
    metric: `metrics/revenue?from=${from}&split=country&interval=day`,
    'metric as CSV': `metrics/revenue.csv?from=${from}&split=country&interval=day`,
  }
  await app.request(`/api/v1/${questions.retention}`, { headers: bearer })
  for (const [name, path] of Object.entries(questions)) {
    const { bodies, longest } = await requestTogether(`/api/v1/${path}`)
    expect(new Set(bodies).size, name).toBe(1)
    expect(bodies[0]?.length, name).toBeGreaterThan(20_000)
    expect(longest, name).toBeLessThan(LONGEST_TURN_MS)
  }
})
