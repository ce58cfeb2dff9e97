import { createHash } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { DAY, openTestStore, quick, read, TIDES, UNTIL } from './opened.ts'

const LOST = { from: UNTIL - 30 * DAY, until: UNTIL - 20 * DAY }
const opened = await openTestStore({ seed: 2, subscribers: 300, lost: LOST })
const { store, server, simulation, clock } = opened
afterAll(() => opened.close())

const steps = [...simulation.steps()]
const PATH = '/inApps/v1/notifications/history'
type Item = { signedPayload: string; sendAttempts: { attemptDate: number; sendAttemptResult: string }[] }

async function everything(body: object, more: { sandbox?: boolean; bid?: string } = {}): Promise<Item[]> {
  const items: Item[] = []
  let path = PATH
  for (;;) {
    const { status, json } = await server(path, { body, ...more })
    expect(status).toBe(200)
    items.push(...json.notificationHistory)
    expect(json.notificationHistory.length).toBeLessThanOrEqual(20)
    expect(json.hasMore).toBe(json.paginationToken !== undefined)
    if (!json.hasMore) return items
    path = `${PATH}?paginationToken=${json.paginationToken}`
  }
}

const window = { startDate: UNTIL - 180 * DAY, endDate: UNTIL }
const codeOf = async (body: unknown, path = PATH) => {
  const { status, json } = await server(path, { body: body as object })
  return [status, json.errorCode]
}

test('lists delivered and lost notifications of each app and environment once, in order', async () => {
  for (const sandbox of [false, true]) {
    for (const { bundle_id: bid } of simulation.apps) {
      const items = await everything(window, { sandbox, bid })
      const payloads = items.map(({ signedPayload }) => read(signedPayload))
      const pushed = steps.flatMap((step) =>
        step.kind === 'notification' &&
        step.bundle_id === bid &&
        (step.environment === 'sandbox') === sandbox &&
        step.payload.signedDate >= window.startDate
          ? [step.payload.notificationUUID]
          : [],
      )
      const lost = simulation
        .lost()
        .filter((s) => s.bundle_id === bid && (s.environment === 'sandbox') === sandbox)
      const late = payloads
        .filter(({ signedDate }) => signedDate > UNTIL - DAY)
        .map((p) => p.notificationUUID)
      const ids = payloads.map((p) => p.notificationUUID)
      expect(new Set(ids).size).toBe(ids.length)
      const arrived = new Set([...pushed, ...lost.map((s) => s.payload.notificationUUID)])
      expect(ids.filter((id) => !arrived.has(id) && !late.includes(id))).toEqual([])
      expect([...arrived].filter((id) => !ids.includes(id))).toEqual([])
      const dates = payloads.map((p) => p.signedDate)
      expect(dates).toEqual([...dates].sort((a, b) => a - b))
      if (!sandbox) expect(ids.length).toBeGreaterThan(40)
    }
  }
})

test('never delivers lost notifications, which are all signed in that period', () => {
  const pushed = steps.flatMap((step) => (step.kind === 'notification' ? [step.payload.signedDate] : []))
  expect(pushed.filter((at) => at >= LOST.from && at < LOST.until)).toEqual([])
  expect(simulation.lost().length).toBeGreaterThan(20)
})

test('returns the same bytes for a delivered and a fetched payload at any time', async () => {
  const authority = await openAuthority({ now: UNTIL })
  const signed = await openTestStore({ seed: 3, subscribers: 30, authority })
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const pushed = new Map<string, string>()
  for (const step of signed.simulation.steps())
    if (step.kind === 'notification') pushed.set(step.payload.notificationUUID, hash(step.body.signedPayload))
  let seen = 0
  for (const _ of [1, 2]) {
    const { json } = await signed.server(PATH, { body: { ...window, startDate: UNTIL - 170 * DAY } })
    for (const { signedPayload } of json.notificationHistory) {
      const before = pushed.get(read(signedPayload).notificationUUID)
      expect(hash(signedPayload)).toBe(before)
      seen += 1
    }
    signed.clock.turn(60_000)
  }
  expect(seen).toBeGreaterThan(9)
})

test('lists the delivery attempts, and filters by failures', async () => {
  const all = await everything(window)
  const results = new Set(all.flatMap((item) => item.sendAttempts.map((a) => a.sendAttemptResult)))
  results.delete('TIMED_OUT')
  expect(results).toEqual(new Set(['SUCCESS', 'NO_RESPONSE']))
  expect(all.every((item) => item.sendAttempts.every((a) => a.attemptDate <= UNTIL))).toBe(true)
  const failures = await everything({ ...window, onlyFailures: true })
  expect(failures.every((item) => !item.sendAttempts.some((a) => a.sendAttemptResult === 'SUCCESS'))).toBe(
    true,
  )
  const lost = simulation.lost().filter((s) => s.bundle_id === TIDES && s.environment === 'production').length
  expect(failures.length).toBeGreaterThan(0)
  expect(failures.length).toBeLessThan(lost)
})

test('filters by one type or one transaction, but not both', async () => {
  const renewals = await everything({
    ...window,
    notificationType: 'DID_RENEW',
    notificationSubtype: 'BILLING_RECOVERY',
  })
  expect(new Set(renewals.map((item) => read(item.signedPayload).subtype))).toEqual(
    new Set(['BILLING_RECOVERY']),
  )
  const transactionId = read(
    read(renewals[0]?.signedPayload ?? '').data.signedTransactionInfo,
  ).originalTransactionId
  const about = await everything({ ...window, transactionId })
  expect(about.length).toBeGreaterThan(1)
  expect(await codeOf({ ...window, transactionId, notificationType: 'DID_RENEW' })).toEqual([400, 4_000_019])
})

test('refuses a window that begins too early, ends before it begins, or is invalid', async () => {
  expect(await codeOf({ ...window, startDate: window.startDate - 1 })).toEqual([400, 4_000_012])
  expect(await codeOf({ startDate: UNTIL, endDate: UNTIL })).toEqual([400, 4_000_013])
  expect(await codeOf({ startDate: UNTIL - 1, endDate: UNTIL - 2 })).toEqual([400, 4_000_013])
  expect(await codeOf({ endDate: UNTIL })).toEqual([400, 4_000_015])
  expect(await codeOf({ startDate: UNTIL - 1, endDate: 'x' })).toEqual([400, 4_000_016])
  expect(await codeOf('x')).toEqual([400, 4_000_000])
  const future = await server(PATH, { body: { ...window, endDate: UNTIL + 900 * DAY } })
  expect(future.status).toBe(200)
})

test('accepts a pagination token only with its own body, for some minutes', async () => {
  const { json } = await server(PATH, { body: window })
  const path = `${PATH}?paginationToken=${json.paginationToken}`
  expect((await server(path, { body: window })).status).toBe(200)
  expect(await codeOf({ ...window, endDate: UNTIL - 1 }, path)).toEqual([400, 4_000_017])
  expect(await codeOf(window, `${PATH}?paginationToken=zzz`)).toEqual([400, 4_000_014])
  clock.turn(store.faults.page_token_life_ms)
  const later = { startDate: window.startDate, endDate: UNTIL }
  expect(await codeOf(later, path)).toEqual([400, 4_000_017])
  clock.set(UNTIL)
})

test('lists later events later, and delivers them then', async () => {
  const before = (await everything(window)).length
  clock.set(UNTIL + 3 * DAY)
  const later = await everything({ startDate: UNTIL - 170 * DAY, endDate: UNTIL + 3 * DAY })
  const fresh = later.map((item) => read(item.signedPayload)).filter(({ signedDate }) => signedDate > UNTIL)
  expect(fresh.length).toBeGreaterThan(0)
  const pushed = [...simulation.advance(UNTIL + 3 * DAY)].flatMap((step) =>
    step.kind === 'notification' ? [step.payload.notificationUUID] : [],
  )
  const settled = fresh.filter(({ signedDate }) => signedDate < UNTIL + 2 * DAY)
  expect(settled.filter((p) => !pushed.includes(p.notificationUUID))).toEqual([])
  expect(before).toBeGreaterThan(0)
  clock.set(UNTIL)
})

test('requires a token for the app, signed with the In-App Purchase key', async () => {
  const now = Math.floor(clock() / 1000)
  const status = async (o: Parameters<typeof server>[1]) => {
    const answer = await server(PATH, { body: window, ...o })
    return [answer.status, answer.body.length]
  }
  expect(await status({ key: store.connect_key })).toEqual([401, 0])
  expect(await status({ bid: 'com.example.other' })).toEqual([401, 0])
  expect(await status({ claims: { exp: now + 3700 } })).toEqual([401, 0])
  expect((await status({ claims: { exp: now + 3600 } }))[0]).toBe(200)
  store.faults.purchase_key = 'revoked'
  expect(await status({})).toEqual([401, 0])
  store.faults.purchase_key = 'good'
})

test('returns any of Apple’s errors on request', async () => {
  store.faults.server_error = 5_000_001
  expect(await codeOf(window)).toEqual([500, 5_000_001])
  store.faults.server_error = null
})

test('sends retry-after in milliseconds since the epoch when a limit is reached', async () => {
  const limited = await openTestStore({ subscribers: 5, authority: quick })
  limited.store.faults.rate_limit = { server: 2 }
  const getHistory = () => limited.server(PATH, { body: window })
  await getHistory()
  limited.clock.turn(60_000)
  await getHistory()
  const { status, json, headers } = await getHistory()
  expect([status, json.errorCode, headers.get('retry-after')]).toEqual([
    429,
    4_290_000,
    String(UNTIL + 3_600_000),
  ])
  limited.clock.set(UNTIL + 3_600_000)
  limited.store.faults.rate_limit = { server: 2, until: UNTIL + 3_700_000 }
  expect((await getHistory()).headers.get('retry-after')).toBe(String(UNTIL + 3_700_000))
  limited.store.faults.rate_limit = { server: 2 }
  expect((await limited.server(PATH, { body: { startDate: UNTIL, endDate: UNTIL + 1 } })).status).toBe(200)
})
