import { gunzipSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConnectApi, openConnectApi, type ReportKind } from '../../../src/apple/api/connect.ts'
import { AppleFault, type FaultKind } from '../../../src/apple/api/faults.ts'
import { openServerApi, type ServerApi } from '../../../src/apple/api/server.ts'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { type Authority, openAuthority } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import type { StoreFaults } from '../../../src/demo/store/fault_injection.ts'
import { type AppStore, openAppStore } from '../../../src/demo/store/store.ts'
import { type HandClock, handClock } from '../../helpers.ts'
import { NOW } from '../samples.ts'
import { handWaits } from './scripted.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const KINDS: readonly ReportKind[] = ['sales', 'subscription', 'subscription_event', 'subscriber']
const dayBefore = (days: number) => new Date(NOW - days * DAY).toISOString().slice(0, 10)

let authority: Authority
let clock: HandClock
let store: AppStore
let connect: ConnectApi
let server: ServerApi
let bundle_id: string
let waits: number[]

beforeAll(async () => {
  authority = await openAuthority({ now: NOW })
})
beforeEach(async () => {
  clock = handClock()
  const simulation = openSimulation({
    seed: 11,
    from: NOW - 20 * DAY,
    until: NOW,
    subscribers: 60,
    authority,
  })
  store = await openAppStore({ simulation, authority, clock })
  bundle_id = store.faults.apps[0]?.bundle_id ?? ''
  const hand = handWaits(clock)
  waits = hand.waits
  const { wait, random } = hand
  const { hosts, connect_key, purchase_key } = store
  connect = openConnectApi({ key: connect_key, clock, host: hosts.connect, wait, random })
  server = openServerApi({ key: purchase_key, bundle_id, clock, hosts: hosts.server, wait, random })
})
afterEach(async () => {
  await connect.close()
  await server.close()
  await store.close()
})

const request = (changes: object = {}) => ({
  kind: 'sales' as const,
  vendor_number: store.vendor_number,
  day: dayBefore(5),
  version: null,
  ...changes,
})

async function faultOf(call: Promise<unknown>): Promise<AppleFault> {
  const fault = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (fault instanceof AppleFault) return fault
  throw new Error(`expected an AppleFault: ${String(fault)}`)
}

describe('App Store Connect', () => {
  test('lists apps page by page, teams, and subscriptions with their periods', async () => {
    store.faults.page_size = 1
    const { apps } = store.faults
    const listed = await connect.apps()
    expect(listed).toEqual(
      apps.map(({ apple_id, bundle_id, name, sku }) => ({ apple_id, bundle_id, name, sku })),
    )
    expect(listed.length).toBeGreaterThan(1)
    expect(await connect.teams()).toEqual(new Map(apps.map((app) => [app.bundle_id, app.team_id])))
    const all = (await Promise.all(apps.map(({ apple_id }) => connect.subscriptions(apple_id)))).flat()
    expect(all.length).toBeGreaterThan(2)
    for (const { period } of all) expect(period).toMatch(/^P(1W|[1236]M|1Y)$/)
    expect(connect.budget()?.limit).toBe(3500)
    expect(store.requests.every(({ status }) => status === 200)).toBe(true)
  })

  test.each(KINDS)('returns the report “%s” in the version that it names', async (kind) => {
    const answer = await connect.report(request({ kind }))
    if (answer.outcome !== 'report') throw new Error(answer.outcome)
    expect(gunzipSync(answer.body).toString()).toMatch(/^[^\n]*\t[^\n]*\n/)
    expect(answer.version).toBe(kind === 'sales' ? '1_0' : '1_4')
    const before = store.requests.length
    expect(await connect.report(request({ kind, version: answer.version }))).toEqual(answer)
    expect(store.requests.length - before).toBe(1)
  })

  test('distinguishes days without sales, future days and past days', async () => {
    expect(await connect.report(request({ day: dayBefore(200) }))).toEqual({
      outcome: 'empty',
      version: '1_0',
    })
    expect(await connect.report(request({ day: dayBefore(0) }))).toEqual({ outcome: 'not_yet' })
    expect(await connect.report(request({ day: dayBefore(400) }))).toEqual({ outcome: 'gone' })
  })

  test.each<[faults: Partial<StoreFaults>, kind: FaultKind, words: string]>([
    [{ connect_key: 'revoked' }, 'unauthorized', 'App Store Connect API key'],
    [{ connect_key: 'developer' }, 'forbidden', 'Finance'],
    [{ missing_agreement: true }, 'agreement', 'Account Holder'],
    [{ forbidden: ['/v1/salesReports'] }, 'forbidden', 'Finance'],
    [{ unavailable_requests: 9 }, 'unavailable', 'is unavailable'],
    [{ rate_limit: { until: NOW + 10 * MINUTE } }, 'rate_limited', 'too many requests'],
  ])('refuses with the faults %j', async (faults, kind, words) => {
    Object.assign(store.faults, faults)
    const fault = await faultOf(connect.report(request()))
    expect(fault.kind).toBe(kind)
    expect(fault.message).toContain(words)
    if (kind === 'rate_limited') expect(fault.retry_at).toBeGreaterThan(clock())
  })

  test('refuses a foreign vendor number, and the In-App Purchase key', async () => {
    const fault = await faultOf(connect.report(request({ vendor_number: '80000000' })))
    expect(fault).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('Payments and Financial'),
    })
    const wrong = openConnectApi({ key: store.purchase_key, clock, host: store.hosts.connect })
    expect(await faultOf(wrong.apps())).toMatchObject({ kind: 'unauthorized' })
    await wrong.close()
  })

  test('is retried after a temporary error', async () => {
    store.faults.unavailable_requests = 3
    expect(await connect.report(request())).toMatchObject({ outcome: 'report' })
    expect(waits).toEqual([500, 2000, 8000])
  })

  test('accepts the tokens for hours, and gets at most nine tenths of its limit', async () => {
    store.faults.rate_limit = { connect: 50 }
    const started = clock()
    let done = 0
    while (clock() < started + 3 * 60 * MINUTE) {
      const answer = await connect.apps().catch((fault: AppleFault) => fault)
      if (!(answer instanceof AppleFault)) {
        done++
        clock.turn(20_000)
        continue
      }
      expect(answer).toMatchObject({ kind: 'rate_limited', status: null })
      clock.set(answer.retry_at ?? 0)
    }
    expect(done).toBeGreaterThan(110)
    expect(store.requests.every(({ status }) => status === 200)).toBe(true)
    expect(connect.budget()?.remaining).toBeGreaterThanOrEqual(5)
  })
})

describe('the App Store Server API', () => {
  const window = { from: NOW - 10 * DAY, until: NOW }

  async function everything(environment: 'production' | 'sandbox'): Promise<string[]> {
    const payloads: string[] = []
    let page: string | null = null
    do {
      const read = await server.notificationHistory(environment, { ...window, page })
      payloads.push(...read.payloads)
      page = read.next
    } while (page !== null)
    return payloads
  }

  test('returns every signed notification of a window', async () => {
    const payloads = await everything('production')
    expect(payloads.length).toBeGreaterThan(20)
    expect(new Set(payloads).size).toBe(payloads.length)
    const verifier = openVerifier({ roots: [authority.root_pem], clock })
    const proved = await Promise.all(payloads.map((jws) => verifier.verify(jws)))
    for (const { payload } of proved) {
      expect(payload).toMatchObject({ notificationType: expect.any(String) })
    }
  })

  test('reports an expired page', async () => {
    const first = await server.notificationHistory('production', { ...window, page: null })
    clock.turn(store.faults.page_token_life_ms + MINUTE)
    const fault = await faultOf(server.notificationHistory('production', { ...window, page: first.next }))
    expect(fault).toMatchObject({ kind: 'refused', code: '4000017' })
    const none = { from: clock() - 181 * DAY, until: clock(), page: null }
    expect(await faultOf(server.notificationHistory('production', none))).toMatchObject({ code: '4000012' })
  })

  test('returns a customer’s transactions, all or those after a revision, and the statuses', async () => {
    const shown = store
      .transactions()
      .find((one) => one.bundle_id === bundle_id && one.environment === 'production')
    const id = shown?.transaction.transactionId ?? ''
    const read = await server.transactionHistory('production', id, null)
    expect(read.transactions.length).toBeGreaterThan(0)
    const again = await server.transactionHistory('production', id, read.revision)
    expect(again).toMatchObject({ transactions: [], has_more: false })
    const { items } = await server.statuses('production', id)
    for (const item of items) expect(item.renewal.split('.')).toHaveLength(3)
    expect(await faultOf(server.statuses('sandbox', id))).toMatchObject({
      kind: 'not_found',
      code: '4040010',
    })
  })

  test('sends test notifications and returns their results', async () => {
    expect(await faultOf(server.requestTest('production'))).toMatchObject({ code: '4040007' })
    store.faults.notification_url = 'https://windfall.example.com/apple/notifications'
    store.faults.test_result = 'TLS_ISSUE'
    const { token } = await server.requestTest('production')
    await store.settled()
    const { payload, attempts } = await server.testStatus('production', token)
    expect(payload?.split('.')).toHaveLength(3)
    expect(attempts).toEqual([{ at: NOW, result: 'TLS_ISSUE' }])
    const old = token.replace(/^./, '0').replace(/\d+$/, '1')
    expect(await server.testStatus('production', old)).toEqual({ payload: null, attempts: [] })
  })

  test('refuses a key of the other kind, and an app of another team', async () => {
    const { hosts, connect_key, purchase_key } = store
    for (const wrong of [
      { key: connect_key, bundle_id },
      { key: purchase_key, bundle_id: 'com.example.stranger' },
    ]) {
      const api = openServerApi({ ...wrong, clock, hosts: hosts.server })
      expect(await faultOf(api.requestTest('production'))).toMatchObject({
        kind: 'unauthorized',
        message: expect.stringContaining('check that it is an In-App Purchase key'),
      })
      await api.close()
    }
  })

  test('names the time at which the limit resets', async () => {
    const until = NOW + 30 * MINUTE
    store.faults.rate_limit = { until }
    expect(await faultOf(everything('production'))).toMatchObject({
      kind: 'rate_limited',
      code: '4290000',
      retry_at: until,
    })
    clock.set(until)
    expect((await everything('production')).length).toBeGreaterThan(20)
  })
})
