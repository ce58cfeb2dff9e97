import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRevocations } from '../../../src/access/revocations.ts'
import { streamOf } from '../../../src/api/stream.ts'
import type { FeedEvent } from '../../../src/events/feed.ts'
import { customerId } from '../../../src/ledger/customers.ts'
import {
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  transactionPayload,
} from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const DAY = 86_400_000

let app: TestApp
let headers: { authorization: string }
beforeEach(async () => {
  app = await openTestApp()
  headers = { authorization: `Bearer ${await app.token()}` }
})
afterEach(async () => {
  vi.useRealTimers()
})

type Customer = {
  id: string
  users: { app_user_id: string; verification: string; proofs: string[] }[]
  figures: Record<string, unknown> | null
  as_of: number
  behind?: true
}
type Event = { seq: number; id: string; type: string; subject: string | null; customer_id: string | null } & {
  display_name: string | null
  customer: Customer | null
  data: object
}
type Body = { events: Event[]; event: Event; customer: Record<string, unknown> }

async function get(path: string): Promise<Body> {
  const response = await app.request(`/api/v1/${path}`, { headers })
  expect(response.status).toBe(200)
  return (await response.json()) as Body
}
/** Events of the feed, oldest first. */
const events = async () => (await get('events?after=0&type=subscription.*,customer.*')).events

let postEvents = 0
/** A payment of 4.990 for a month, as Apple notifies of it: the nth of a lineage. */
function pays(lineage: string, nth: number, changes: Record<string, unknown> = {}) {
  postEvents += 1
  const at = NOW - (10 - nth) * DAY
  const known = { originalTransactionId: lineage, appTransactionId: `app${lineage}`, signedDate: at }
  const transaction = transactionPayload({
    ...known,
    transactionId: `${lineage}${nth}`,
    originalPurchaseDate: NOW - 10 * DAY - Number(lineage),
    purchaseDate: at,
    expiresDate: at + 30 * DAY,
    ...changes,
  })
  const { appTransactionId } = transaction
  const body = dataBody({
    signedTransactionInfo: app.authority.sign(transaction),
    signedRenewalInfo: app.authority.sign(renewalPayload({ ...known, appTransactionId })),
  })
  return app.notify(outerPayload(body, { notificationUUID: `uuid-${postEvents}`, signedDate: at }))
}
const attribute = (appUserId: string, originalTransactionId: string, more: object = {}) =>
  app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId, ...more })
const idOf = (lineage: string): string =>
  customerId(app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? '', 'production', lineage)

/** What the API says of a customer's figures, of those that events have. */
async function figuresOf(id: string) {
  const { currency, ltv_milli, payments, mrr_milli, unconverted } = (await get(`customers/${id}`)).customer
  return { currency, ltv_milli, payments, mrr_milli, unconverted }
}

/** Reads a stream until `enough` events came. */
async function streamed(enough: number, act: () => Promise<unknown>, more: object = {}): Promise<Event[]> {
  const response = await app.request('/api/v1/events/stream', { headers: { ...headers, ...more } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const seen = () => [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, json = '']) => JSON.parse(json) as Event)
  const acting = act()
  while (seen().length < enough) text += (await reader?.read())?.value ?? ''
  await acting
  await reader?.cancel()
  return seen()
}

test('an event has the name that an attribute gives its customer now, or its user', async () => {
  const identify = (appUserId: string, name: string) =>
    app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes: { name } })
  const names = async () => (await events()).map(({ type, display_name }) => [type, display_name])
  await pays('1', 1)
  expect(await names()).toEqual([['subscription.renewed', null]])
  await identify('ann', 'Ann Müller')
  await attribute('ann', '1')
  const named = [
    ['subscription.renewed', 'Ann Müller'],
    ['customer.identified', 'Ann Müller'],
    ['customer.linked', 'Ann Müller'],
  ]
  expect(await names()).toEqual(named)
  await identify('ann', 'Ann Meier')
  expect((await events()).map(({ display_name }) => display_name)).toEqual(named.map(() => 'Ann Meier'))
  const [live] = await streamed(1, () => pays('1', 2))
  expect(live?.display_name).toBe('Ann Meier')
  expect((await get(`events/${live?.id}`)).event.display_name).toBe('Ann Meier')
  expect((await get(`customers/${idOf('1')}/events`)).events[0]?.display_name).toBe('Ann Meier')
})

test('every endpoint returns events with the current customer', async () => {
  const live = await streamed(3, async () => {
    await pays('1', 1)
    await pays('1', 2)
    // No rate of the euro is known.
    await pays('2', 1, { currency: 'EUR', storefront: 'DEU' })
  })
  await attribute('ann', '1')
  const listed = await events()
  expect(listed.map(({ subject }) => subject)).toEqual(['1', '1', '2', '1'])
  // 2 × 4.990: also the first event, which happened when there was one payment.
  const known = { currency: 'USD', ltv_milli: 9_980, payments: 2, mrr_milli: 4_990, unconverted: null }
  expect(await figuresOf(idOf('1'))).toEqual(known)
  const ann = { app_user_id: 'ann', verification: 'unverified', proofs: [] }
  const first = { id: idOf('1'), users: [ann], figures: known, as_of: app.clock() }
  const apart = await figuresOf(idOf('2'))
  expect(apart).toMatchObject({ ltv_milli: 0, payments: 1, unconverted: { EUR: 4_990 } })
  const second = { id: idOf('2'), users: [], figures: apart, as_of: app.clock() }
  expect(listed.map(({ customer }) => customer)).toEqual([first, first, second, first])
  for (const event of listed) expect((await get(`events/${event.id}`)).event).toEqual(event)
  const own = listed.filter(({ subject }) => subject === '1').toReversed()
  for (const path of [`customers/${idOf('1')}/events`, `customers/${idOf('1')}`]) {
    const shown = (await get(path)).events.filter(({ type }) => type !== 'transaction.recorded')
    expect(shown).toEqual(own)
  }
  // What went out live was of its own instant: nobody was linked by then.
  expect(live.map(({ seq }) => seq)).toEqual(listed.slice(0, 3).map(({ seq }) => seq))
  expect(live.map(({ customer }) => customer?.users)).toEqual([[], [], []])
  expect(live[2]?.customer).toEqual(second)
  const replayed = await streamed(4, () => Promise.resolve(), { 'last-event-id': '0' })
  expect(replayed).toEqual(listed)
})

test('stored events contain no figures, and events without a customer have none', async () => {
  await pays('1', 1)
  await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE })
  expect(
    app.feed(['subscription.renewed', 'transaction.recorded']).map(({ data }) => Object.keys(data)),
  ).toEqual([
    ['bundle_id', 'product_id', 'country', 'money', 'transaction', 'notification', 'subscription', 'user'],
    ['bundle_id', 'product_id', 'country', 'money', 'transaction', 'subscription', 'user'],
  ])
  expect((await events()).at(-1)).toMatchObject({ type: 'customer.identified', customer: null })
})

test('events of merged customers contain the merged customer, with all users and payments', async () => {
  await pays('1', 1)
  await pays('2', 1)
  const jws = app.authority.sign(
    transactionPayload({ transactionId: '20', originalTransactionId: '2', appTransactionId: 'app2' }),
  )
  await attribute('bob', '2', { jws })
  await attribute('ann', '1')
  // The same account of Apple's is seen beside both; the second lineage began earlier by a millisecond.
  await pays('1', 2, { appTransactionId: 'app2' })
  const listed = await events()
  expect(new Set(listed.map(({ customer_id }) => customer_id))).toEqual(new Set([idOf('1'), idOf('2')]))
  // Lineage 1 paid twice and lineage 2 twice: once notified, once told by the device.
  const figures = await figuresOf(idOf('2'))
  expect(figures).toMatchObject({ payments: 4, ltv_milli: 4 * 4_990 })
  for (const { customer } of listed) {
    expect(customer).toEqual({
      id: idOf('2'),
      users: [
        { app_user_id: 'bob', verification: 'verified', proofs: ['purchase'] },
        { app_user_id: 'ann', verification: 'unverified', proofs: [] },
      ],
      figures,
      as_of: app.clock(),
    })
  }
})

test('figures of an event change with time, as of `as_of`', async () => {
  await pays('1', 9)
  app.clock.turn(60 * DAY)
  const [event] = await events()
  expect(event?.customer).toMatchObject({ figures: { payments: 1, mrr_milli: 0 }, as_of: NOW + 60 * DAY })
})

test('a user who is being erased is in no event’s customer from that commit on', async () => {
  await pays('1', 1)
  await attribute('ann', '1')
  const { store, erasures, customers, apps } = app.windfall
  const app_id = apps.byBundle(BUNDLE)[0]?.id ?? ''
  const usersNow = () => customers.figuresOf([idOf('1')]).get(idOf('1'))?.users
  expect(usersNow()).toMatchObject([{ app_user_id: 'ann' }])
  const request = { app_id, app_user_id: 'ann', asked_by: 'test' }
  const { id } = await store.commit(() => erasures.erase(request))
  // The link itself is taken in the background.
  expect(usersNow()).toEqual([])
  await erasures.finished(id)
  expect(JSON.stringify(await events())).not.toContain('ann')
})

/** Lets the second be over in which figures are waited for. */
async function waitASecond(): Promise<void> {
  for (let turns = 0; vi.getTimerCount() === 0 && turns < 1_000; turns += 1) await new Promise(setImmediate)
  expect(vi.getTimerCount()).toBeGreaterThan(0)
  await vi.advanceTimersByTimeAsync(1_000)
}

test('after one second, a page omits outdated figures but keeps the users', async () => {
  const { store, metrics } = app.windfall
  const { commitUpkeep } = store
  let isHeld = false
  // Work that was queued before is held, too.
  store.commitUpkeep = (work) => commitUpkeep(() => (isHeld ? (false as never) : work()))
  await pays('1', 9)
  await attribute('ann', '1')
  await metrics.whenCurrent()
  isHeld = true
  // The subscription ended meanwhile, which has to be written before the figures are current.
  app.clock.turn(60 * DAY)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  const pending = events()
  await waitASecond()
  const late = await pending
  expect(late.map(({ seq }) => seq)).toEqual([1, 3])
  for (const { customer } of late) {
    expect(customer).toEqual({
      id: idOf('1'),
      figures: null,
      as_of: app.clock(),
      behind: true,
      users: [{ app_user_id: 'ann', verification: 'unverified', proofs: [] }],
    })
  }
  vi.useRealTimers()
  isHeld = false
  const first = async () => (await events())[0]?.customer
  await expect.poll(first).toMatchObject({ figures: { payments: 1, mrr_milli: 0 } })
  expect(await first()).not.toHaveProperty('behind')
})

test('a client that catches up waits one second in total for figures, and misses no event', async () => {
  const { feed, live, store } = app.windfall
  const append = (count: number) =>
    store.commit(() => {
      for (let n = 0; n < count; n += 1)
        feed.append({
          organization_id: app.organization.id,
          app_id: null,
          environment: null,
          type: 'notification.test',
          origin: 'live',
          customer_id: null,
          subject: null,
          cause: `${feed.head()} ${n}`,
          data: () => ({}),
          occurred_at: NOW,
          signed_at: null,
        })
    })
  await append(350)
  const waits: number[] = []
  // Each page takes 400 ms of the time that it has; while the last is waited for, more happens.
  const enrich = async (events: readonly FeedEvent[], most_ms = Number.NaN) => {
    waits.push(most_ms)
    app.clock.turn(Math.min(400, most_ms))
    if (waits.length === 4) await append(5)
    return events.map((event) => ({ ...event, customer: null }))
  }
  const { clock } = app
  const deps = { feed, live, clock, monotonic: clock, enrichment: { enrich }, revocations: openRevocations() }
  const response = streamOf(
    { ...deps, closing: new AbortController().signal },
    { scope: { query: {}, wants: () => true }, after: 0, accessValidUntil: () => Number.POSITIVE_INFINITY },
  )
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const seqs = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
  while (seqs().length < 355) text += (await reader?.read())?.value ?? ''
  await append(1)
  while (seqs().length < 356) text += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  expect(seqs()).toEqual(Array.from({ length: 356 }, (_, index) => index + 1))
  expect(waits.slice(0, 5)).toEqual([1_000, 600, 200, 0, 0])
})
