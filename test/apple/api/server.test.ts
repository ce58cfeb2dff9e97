import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppleFault, type FaultKind } from '../../../src/apple/api/faults.ts'
import { openServerApi, type ServerApi, type ServerOptions } from '../../../src/apple/api/server.ts'
import { hourlyLimit } from '../../../src/apple/api/server_budgets.ts'
import { type HandClock, handClock } from '../../helpers.ts'
import { BUNDLE, NOW } from '../samples.ts'
import { haveVectors, textOf } from '../vectors.ts'
import { handWaits, newKey, openScripted, type Reply } from './scripted.ts'

const MINUTE = 60_000
const WINDOW = { from: NOW - 60 * MINUTE, until: NOW, page: null }

const refusal = (status: number, errorCode: number, errorMessage: string): Reply => ({
  status,
  json: { errorCode, errorMessage },
})
const EMPTY_HISTORY: Reply = { json: { hasMore: false, notificationHistory: [] } }
const sample = (name: string): Reply => ({ json: JSON.parse(textOf(`apple-library/models/${name}.json`)) })

let clock: HandClock
let production: Awaited<ReturnType<typeof openScripted>>
let sandbox: Awaited<ReturnType<typeof openScripted>>
let api: ServerApi
let waits: number[]

beforeEach(async () => {
  clock = handClock()
  production = await openScripted()
  sandbox = await openScripted()
  api = open()
})
afterEach(async () => {
  await api.close()
  await production.close()
  await sandbox.close()
})

function open(changes: Partial<ServerOptions> = {}): ServerApi {
  const hand = handWaits(clock)
  waits = hand.waits
  const hosts = { production: production.host, sandbox: sandbox.host }
  const { wait, random } = hand
  return openServerApi({ key: newKey(), bundle_id: BUNDLE, clock, hosts, wait, random, ...changes })
}

async function faultOf(call: Promise<unknown>): Promise<AppleFault> {
  const fault = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(fault instanceof AppleFault)) throw new Error(`expected an AppleFault: ${String(fault)}`)
  for (const { token } of production.requests) expect(fault.message).not.toContain(token)
  return fault
}

describe('notification history', () => {
  test('is requested with the same window on every page, with a token for the app', async () => {
    const page = {
      json: { hasMore: true, paginationToken: 'a b/+c', notificationHistory: [{ signedPayload: 'one' }] },
    }
    production.answerWith(page, EMPTY_HISTORY)
    const first = await api.notificationHistory('production', WINDOW)
    expect(first).toEqual({ payloads: ['one'], next: 'a b/+c' })
    const second = await api.notificationHistory('production', { ...WINDOW, page: first.next })
    expect(second).toEqual({ payloads: [], next: null })
    expect(production.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /inApps/v1/notifications/history',
      'POST /inApps/v1/notifications/history',
    ])
    const [one, two] = production.requests
    expect(one?.query.has('paginationToken')).toBe(false)
    expect(two?.query.get('paginationToken')).toBe('a b/+c')
    expect(JSON.parse(one?.body ?? '')).toEqual({ startDate: WINDOW.from, endDate: WINDOW.until })
    expect(two?.body).toBe(one?.body)
    expect(two?.token).toBe(one?.token)
    expect(decodeJwt(one?.token ?? '')).toMatchObject({ bid: BUNDLE, aud: 'appstoreconnect-v1' })
  })

  test('with a repeated page token is given up', async () => {
    const page = (signedPayload: string): Reply => ({
      json: { hasMore: true, paginationToken: 'same', notificationHistory: [{ signedPayload }] },
    })
    const turned = { ...WINDOW, page: 'same' }
    production.answerWith(page('one'), page('two'), page('two'))
    await api.notificationHistory('production', WINDOW)
    expect(await api.notificationHistory('production', turned)).toEqual({ payloads: ['two'], next: 'same' })
    const fault = await faultOf(api.notificationHistory('production', turned))
    expect(fault).toMatchObject({ kind: 'unreadable', status: null })
    expect(fault.message).toContain('links to itself as the next page')
  })

  test('of the sandbox is requested from the sandbox host', async () => {
    sandbox.answerWith(EMPTY_HISTORY)
    await api.notificationHistory('sandbox', WINDOW)
    expect(sandbox.requests).toHaveLength(1)
    expect(production.requests).toHaveLength(0)
  })

  test('has its own code for an expired page', async () => {
    production.answerWith(refusal(400, 4000017, 'Invalid request. The pagination token is expired.'))
    const fault = await faultOf(api.notificationHistory('production', { ...WINDOW, page: 'old' }))
    expect(fault).toMatchObject({ kind: 'refused', status: 400, code: '4000017' })
    expect(fault.message).toContain('from its beginning')
  })

  test.each<[what: string, reply: Reply, words: string]>([
    ['no JSON', { body: 'hello' }, 'it is not JSON'],
    ['no list', { json: { hasMore: false } }, 'notificationHistory'],
    ['no word about more', { json: { notificationHistory: [] } }, 'hasMore'],
    [
      'more, but not where',
      { json: { hasMore: true, notificationHistory: [] } },
      'without a paginationToken',
    ],
    [
      'an empty place for more',
      { json: { hasMore: true, paginationToken: '', notificationHistory: [] } },
      'without',
    ],
    [
      'a payload missing',
      { json: { hasMore: false, notificationHistory: [{}] } },
      'notificationHistory.0.signedPayload',
    ],
    ['nothing at all', { status: 200 }, 'it is not JSON'],
    ['too much', { body: Buffer.alloc(17 * 1_048_576, ' ') }, 'larger than the limit of 16 MB'],
    ['a redirection', { status: 307, headers: { location: 'https://example.com/' } }, '(307)'],
  ])('with %s is a fault of kind unreadable', async (_, reply, words) => {
    production.answerWith(reply)
    const fault = await faultOf(api.notificationHistory('production', WINDOW))
    expect(fault.kind).toBe('unreadable')
    expect(fault.message).toContain(words)
    expect(production.requests).toHaveLength(1)
  })
})

describe('transactions', () => {
  test('are requested by customer id, from a revision on', async () => {
    production.answerWith({ json: { revision: 'r2', hasMore: false, signedTransactions: ['one', 'two'] } })
    expect(await api.transactionHistory('production', '2000000000000001', 'r/1=')).toEqual({
      transactions: ['one', 'two'],
      revision: 'r2',
      has_more: false,
    })
    const [first] = production.requests
    expect(first?.path).toBe('/inApps/v2/history/2000000000000001')
    expect(first?.query.get('revision')).toBe('r/1=')
  })

  test.each(['', '..', '../../x?y', '20000 1', '\ud800', 'ä', '1'.repeat(129)])(
    'of what cannot be an id are not asked for: %j',
    async (id) => {
      for (const call of [api.transactionHistory('production', id, null), api.statuses('sandbox', id)]) {
        expect(await faultOf(call)).toMatchObject({ kind: 'refused', status: null, code: '4000006' })
      }
      expect(production.requests).toHaveLength(0)
    },
  )

  test('with a repeated revision are given up', async () => {
    production.answerWith({ json: { revision: 'r', hasMore: true, signedTransactions: ['one'] } })
    expect(await api.transactionHistory('production', '1', null)).toMatchObject({ has_more: true })
    production.answerWith({ json: { revision: 'r', hasMore: true, signedTransactions: ['one'] } })
    expect(await faultOf(api.transactionHistory('production', '1', 'r'))).toMatchObject({
      kind: 'unreadable',
    })
    production.answerWith({ json: { revision: 'r', hasMore: false, signedTransactions: [] } })
    expect(await api.transactionHistory('production', '1', 'r')).toMatchObject({ has_more: false })
  })

  test('without a revision are a fault of kind unreadable', async () => {
    production.answerWith({ json: { hasMore: false, signedTransactions: [] } })
    expect(await faultOf(api.transactionHistory('production', '1', null))).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining('revision'),
    })
  })

  test('of an unknown id have their own code, so that the sandbox can be queried', async () => {
    production.answerWith(refusal(404, 4040010, 'Transaction id not found.'))
    expect(await faultOf(api.statuses('production', '1'))).toMatchObject({
      kind: 'not_found',
      status: 404,
      code: '4040010',
      message: expect.stringContaining('Transaction id not found.'),
    })
  })
})

describe('a test notification', () => {
  test('is requested, and its status is polled', async () => {
    production.answerWith(
      { json: { testNotificationToken: 't/1' } },
      refusal(404, 4040008, 'Test notification status is not available.'),
      {
        json: {
          signedPayload: 'signed',
          sendAttempts: [{ attemptDate: NOW, sendAttemptResult: 'TLS_ISSUE' }],
        },
      },
    )
    const { token } = await api.requestTest('production')
    expect(token).toBe('t/1')
    expect(await api.testStatus('production', token)).toEqual({ payload: null, attempts: [] })
    expect(await api.testStatus('production', token)).toEqual({
      payload: 'signed',
      attempts: [{ at: NOW, result: 'TLS_ISSUE' }],
    })
    expect(production.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/inApps/v1/notifications/test', ''],
      ['GET', '/inApps/v1/notifications/test/t%2F1', ''],
      ['GET', '/inApps/v1/notifications/test/t%2F1', ''],
    ])
  })

  test('without a configured URL says where to enter one', async () => {
    production.answerWith(
      refusal(404, 4040007, 'No App Store Server Notification URL found for provided app.'),
    )
    const fault = await faultOf(api.requestTest('production'))
    expect(fault).toMatchObject({ kind: 'not_found', code: '4040007' })
    expect(fault.message).toContain('App Information')
  })

  test('with an invalid token is a fault', async () => {
    production.answerWith(refusal(400, 4000020, 'Invalid request. Test notification token is invalid.'))
    expect(await faultOf(api.testStatus('production', 'x'))).toMatchObject({
      kind: 'refused',
      code: '4000020',
    })
  })
})

describe('an error of Apple', () => {
  test.each<[reply: Reply, kind: FaultKind, words: string]>([
    [
      { status: 401 },
      'unauthorized',
      'check that it is an In-App Purchase key (not an App Store Connect API key)',
    ],
    [refusal(403, 4030004, 'Not eligible.'), 'forbidden', 'Not eligible.'],
    [refusal(400, 4000000, 'Bad request.'), 'refused', 'Bad request.'],
    [refusal(400, 4000002, 'Invalid app identifier.'), 'refused', 'Apple id'],
    [refusal(400, 4000005, 'Invalid request revision.'), 'refused', 'from its beginning'],
    [refusal(400, 4000006, 'Invalid transaction id.'), 'refused', 'transaction id is not valid'],
    [
      refusal(400, 4000008, 'Invalid original transaction id.'),
      'refused',
      'original transaction id is not valid',
    ],
    [refusal(400, 4000012, 'Invalid start date.'), 'refused', '180 days'],
    [refusal(400, 4000013, 'Invalid end date.'), 'refused', 'ends before it begins'],
    [refusal(400, 4000016, 'Invalid.'), 'refused', 'a retry does not help'],
    [refusal(400, 4000019, 'Multiple filters.'), 'refused', 'not both'],
    [refusal(400, 4000048, 'App transaction id not supported.'), 'refused', 'kind'],
    [refusal(404, 4040001, 'Account not found.'), 'not_found', 'account'],
    [refusal(404, 4040003, 'App not found.'), 'not_found', 'has been on sale'],
    [refusal(404, 4040005, 'Original transaction id not found.'), 'not_found', 'original transaction'],
    [refusal(404, 4049999, 'Something new.'), 'not_found', 'Something new.'],
    [{ status: 404, body: '<html>' }, 'not_found', '(404)'],
    [{ status: 418, json: { errorCode: 'teapot' } }, 'refused', '(418)'],
    [{ status: 204 }, 'unreadable', '(204)'],
  ])('that is permanent is not retried: %j', async (reply, kind, words) => {
    production.answerWith(reply)
    const fault = await faultOf(api.statuses('production', '1'))
    expect(fault).toMatchObject({ kind, status: reply.status })
    expect(fault.message).toContain(words)
    expect(production.requests).toHaveLength(1)
    expect(waits).toEqual([])
  })

  test.each<[reply: Reply]>([
    [refusal(404, 4040002, 'Account not found. Please try again.')],
    [refusal(404, 4040004, 'App not found. Please try again.')],
    [refusal(404, 4040006, 'Original transaction id not found. Please try again.')],
    [refusal(500, 5000000, 'An unknown error occurred.')],
    [refusal(500, 5000001, 'An unknown error occurred. Please try again.')],
    [{ status: 503, body: 'Service Unavailable' }],
    [{ status: 500, json: { errorCode: 5000000 }, cut: true }],
  ])('that is temporary is retried: %j', async (reply) => {
    production.answerWith(reply, reply, { json: { data: [] } })
    expect(await api.statuses('production', '1')).toEqual({ items: [] })
    expect(waits).toEqual([500, 2000])
    production.answerWith(reply)
    expect(await faultOf(api.statuses('production', '1'))).toMatchObject({ kind: 'unavailable' })
    expect(production.requests).toHaveLength(7)
  })
})

describe('the hourly limit', () => {
  test('is used up until the time that Apple names, for that endpoint and environment only', async () => {
    const retry_at = NOW + 17 * MINUTE
    const limited: Reply = {
      ...refusal(429, 4290000, 'Rate limit exceeded.'),
      headers: { 'retry-after': String(retry_at) },
    }
    production.answerWith(limited)
    sandbox.answerWith({ json: { data: [] } })
    expect(await faultOf(api.statuses('production', '1'))).toMatchObject({
      kind: 'rate_limited',
      status: 429,
      code: '4290000',
      retry_at,
    })
    expect(await faultOf(api.statuses('production', '1'))).toMatchObject({ status: null, retry_at })
    expect(production.requests).toHaveLength(1)
    await api.statuses('sandbox', '1')
    production.answerWith(EMPTY_HISTORY)
    await api.notificationHistory('production', WINDOW)
    clock.set(retry_at)
    production.answerWith({ json: { data: [] } })
    expect(await api.statuses('production', '1')).toEqual({ items: [] })
  })

  test('is waited for if it resets soon', async () => {
    const headers = { 'retry-after': String(NOW + 5000) }
    production.answerWith(
      { ...refusal(429, 4290000, 'Rate limit exceeded.'), headers },
      { json: { data: [] } },
    )
    expect(await api.statuses('production', '1')).toEqual({ items: [] })
    expect(waits).toEqual([5000])
  })

  test('is nine tenths of Apple’s: 50 per second, 1 for tests, and a tenth of that in the sandbox', () => {
    expect(hourlyLimit('notifications', 'production')).toBe(162_000)
    expect(hourlyLimit('transactions', 'sandbox')).toBe(16_200)
    expect(hourlyLimit('statuses', 'production')).toBe(162_000)
    expect(hourlyLimit('test_request', 'production')).toBe(3240)
    expect(hourlyLimit('test_status', 'sandbox')).toBe(324)
  })

  test('is counted before each request, so that Apple refuses none', async () => {
    sandbox.answerWith({ json: { testNotificationToken: 't' } })
    for (let n = 0; n < 324; n++) {
      if (n % 54 === 0) clock.turn(5 * MINUTE)
      await api.requestTest('sandbox')
    }
    const fault = await faultOf(api.requestTest('sandbox'))
    expect(fault).toMatchObject({ kind: 'rate_limited', status: null, retry_at: NOW + 66 * MINUTE })
    expect(sandbox.requests).toHaveLength(324)
    clock.set(NOW + 66 * MINUTE)
    for (let n = 0; n < 54; n++) await api.requestTest('sandbox')
    expect(await faultOf(api.requestTest('sandbox'))).toMatchObject({ retry_at: NOW + 71 * MINUTE })
    clock.set(NOW - 9000 * MINUTE)
    for (let n = 0; n < 324; n++) await api.requestTest('sandbox')
    expect(await faultOf(api.requestTest('sandbox'))).toMatchObject({ retry_at: NOW - 8939 * MINUTE })
  })
})

describe.runIf(haveVectors)('Apple’s own samples', () => {
  test('of answers are read', async () => {
    production.answerWith(sample('getNotificationHistoryResponse'))
    expect(await api.notificationHistory('production', WINDOW)).toEqual({
      payloads: ['signed_payload_one', 'signed_payload_two'],
      next: '57715481-805a-4283-8499-1c19b5d6b20a',
    })
    production.answerWith(sample('transactionHistoryResponse'))
    expect(await api.transactionHistory('production', '1', null)).toEqual({
      transactions: ['signed_transaction_value', 'signed_transaction_value2'],
      revision: 'revision_output',
      has_more: true,
    })
    production.answerWith(sample('getAllSubscriptionStatusesResponse'))
    const { items } = await api.statuses('production', '1')
    expect(items.map(({ status }) => status)).toEqual([1, 5, 2])
    expect(items[1]).toEqual({
      transaction: 'signed_transaction_two',
      renewal: 'signed_renewal_two',
      status: 5,
      original_transaction_id: '5314314134',
    })
    production.answerWith(sample('requestTestNotificationResponse'))
    expect(await api.requestTest('production')).toEqual({ token: 'ce3af791-365e-4c60-841b-1674b43c1609' })
    production.answerWith(sample('getTestNotificationStatusResponse'))
    expect(await api.testStatus('production', 'x')).toEqual({
      payload: 'signed_payload',
      attempts: [
        { at: 1_698_148_900_000, result: 'NO_RESPONSE' },
        { at: 1_698_148_950_000, result: 'SUCCESS' },
      ],
    })
  })

  test.each<[name: string, status: number, kind: FaultKind, code: string]>([
    ['transactionIdNotFoundError', 404, 'not_found', '4040010'],
    ['apiTooManyRequestsException', 429, 'rate_limited', '4290000'],
    ['apiException', 500, 'unavailable', '5000000'],
  ])('of refusals are understood: %s', async (name, status, kind, code) => {
    production.answerWith({ status, ...sample(name) })
    expect(await faultOf(api.statuses('production', '1'))).toMatchObject({ kind, status, code })
  })
})
