/** The client of the kit calls a Windfall on a real socket. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Client, createClient, type Fetch, WindfallError } from '../../../sdk/js/src/server/server.ts'
import { BUNDLE, renewedPayload } from '../../apple/samples.ts'
import { openServed } from './serving.ts'

const PURCHASE = { appUserId: 'user-1', bundleId: BUNDLE, originalTransactionId: '2000000000000001' }

/** What a call was refused with. */
const refusalOf = async (call: Promise<unknown>): Promise<WindfallError> => {
  const error = await call.then(
    () => null,
    (thrown) => thrown,
  )
  if (error instanceof WindfallError) return error
  throw new Error(`it was not refused: ${error}`)
}

/** A server that is not Windfall. Counts its requests. */
async function openOther(answer: RequestListener) {
  const seen = { requests: 0 }
  const server = createServer((request, response) => {
    seen.requests += 1
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => void waits.push(ms)
  const client = (options = {}): Client =>
    createClient({ url, secretKey: 'sk_live_1', readToken: 'wf_1', wait, ...options })
  return { seen, waits, client, url }
}

describe('identify, attribute and access', () => {
  test('name a user with proof, link a purchase and read the access', async () => {
    const app = await openServed()
    const client = app.clientOf()
    await app.notify(renewedPayload(app.authority))
    expect(
      await client.identify({ appUserId: 'user-1', bundleId: BUNDLE, attributes: { plan: 'pro' } }),
    ).toEqual({ appUserId: 'user-1', bundleId: BUNDLE, verification: 'verified' })
    expect(await client.attribute(PURCHASE)).toMatchObject({ appUserId: 'user-1', moved: false })
    expect(await client.attribute({ ...PURCHASE, appUserId: 'user-2' })).toMatchObject({ moved: true })
    expect(await client.access('user-1')).toEqual({ has_access: false, access_until: null, products: [] })
    const access = await client.access('user-2', { app: BUNDLE, environment: 'production' })
    expect(access).toMatchObject({ has_access: true, products: [{ product_id: 'lantern.pro.monthly' }] })
  })

  test('user ids of any form reach the server as they are', async () => {
    const app = await openServed()
    const client = app.clientOf()
    await app.notify(renewedPayload(app.authority))
    for (const appUserId of ['a/b', 'ü%2F?#', '...', 'a b', '日本', '../x', '$anon_1']) {
      await client.attribute({ ...PURCHASE, appUserId })
      expect((await client.access(appUserId)).has_access, appUserId).toBe(true)
    }
    for (const appUserId of ['', '.', '..', '\uD800'])
      expect(await refusalOf(client.access(appUserId)), appUserId).toMatchObject({ code: 'invalid_argument' })
  })

  test('access is read with a secret key or a read token, and nothing else with the wrong one', async () => {
    const app = await openServed()
    const secretOnly = createClient({ url: `${app.url}/`, secretKey: await app.key('secret') })
    const tokenOnly = createClient({ url: app.url, readToken: await app.token() })
    for (const client of [secretOnly, tokenOnly])
      expect((await client.access('user-1')).has_access).toBe(false)
    const missing = { code: 'invalid_options', status: null }
    expect(await refusalOf(tokenOnly.attribute(PURCHASE))).toMatchObject(missing)
    expect(await refusalOf(tokenOnly.identify(PURCHASE))).toMatchObject(missing)
    expect(await refusalOf(tokenOnly.importLinks({ rows: [PURCHASE] }))).toMatchObject(missing)
    expect(await refusalOf(secretOnly.readEvents({ after: 0 })[Symbol.asyncIterator]().next())).toMatchObject(
      missing,
    )
  })

  test('a refusal has the status, the code, the fields and the request id', async () => {
    const app = await openServed()
    const client = app.clientOf()
    expect(await refusalOf(client.identify({ appUserId: 'null', bundleId: '' }))).toMatchObject({
      name: 'WindfallError',
      status: 400,
      code: 'invalid_request',
      errors: [{ path: 'appUserId' }, { path: 'bundleId' }],
      requestId: expect.stringMatching(/^req_/),
      retryAfter: null,
    })
    const unknown = { appUserId: 'user-1', bundleId: 'com.example.other' }
    expect(await refusalOf(client.identify(unknown))).toMatchObject({
      status: 403,
      code: 'app_not_in_organization',
    })
    const revoked = app.clientOf({ secretKey: 'sk_live_revoked' })
    const refused = await refusalOf(revoked.attribute(PURCHASE))
    expect(refused).toMatchObject({ status: 401, code: 'invalid_key' })
    expect(`${refused.stack}${JSON.stringify(refused)}`).not.toContain('sk_live_revoked')
  })
})

test('a call has the fields of the API and nothing else of the object', async () => {
  const app = await openServed()
  const bodies: unknown[] = []
  const listening: Fetch = (url, init) => {
    bodies.push(JSON.parse(init.body ?? ''))
    return fetch(url, init)
  }
  const client = app.clientOf({ fetch: listening })
  const row = {
    ...PURCHASE,
    attributes: { plan: 'pro' },
    locale: 'de',
    productId: undefined,
    email: 'a@example.com',
  }
  await client.identify(row)
  await client.attribute(row)
  await client.importLinks({ app: BUNDLE, rows: [row] })
  const { appUserId, bundleId, originalTransactionId } = PURCHASE
  const { attributes } = row
  expect(bodies).toEqual([
    { appUserId, bundleId, locale: 'de', attributes },
    { appUserId, bundleId, originalTransactionId },
    {
      dry_run: false,
      links: [
        { app: BUNDLE, app_user_id: appUserId, original_transaction_id: originalTransactionId, attributes },
      ],
    },
  ])
})

describe('retries', () => {
  test('a call over the rate limit is repeated when the server says', async () => {
    const app = await openServed({ env: { WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '2' } })
    const waits: number[] = []
    const wait = async (ms: number): Promise<void> => {
      waits.push(ms)
      app.clock.turn(ms)
    }
    const client = app.clientOf({ wait, maxWaitMs: 60_000 })
    for (const number of [1, 2, 3]) await client.identify({ appUserId: `user-${number}`, bundleId: BUNDLE })
    expect(waits).toEqual([60_000])
    const impatient = app.clientOf({ wait, maxWaitMs: 59_000 })
    await impatient.identify({ appUserId: 'user-4', bundleId: BUNDLE })
    const error = await refusalOf(impatient.identify({ appUserId: 'user-5', bundleId: BUNDLE }))
    expect(error).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: 60 })
    expect(waits).toEqual([60_000])
  })

  test('503 is repeated at most `retries` times, by its date or with growing delays', async () => {
    const { seen, waits, client } = await openOther((_, response) => {
      const problem = { 'content-type': 'application/problem+json' }
      const later = new Date(Date.now() + 8_000).toUTCString()
      response.writeHead(503, seen.requests === 1 ? { ...problem, 'retry-after': later } : problem)
      response.end('{"code":"starting","detail":"the server is starting"}')
    })
    const call = client({ retries: 3 }).attribute(PURCHASE)
    expect(await refusalOf(call)).toMatchObject({
      status: 503,
      code: 'starting',
      detail: 'the server is starting',
    })
    expect(seen.requests).toBe(4)
    expect(waits).toHaveLength(3)
    const [first = 0, second = 0, third = 0] = waits
    expect(first).toBeGreaterThanOrEqual(7_000)
    expect(first).toBeLessThanOrEqual(9_000)
    expect(second).toBeGreaterThanOrEqual(500)
    expect(third).toBeLessThanOrEqual(3_000)
    expect(third).toBeGreaterThanOrEqual(1_000)
    await refusalOf(client({ retries: 0 }).attribute(PURCHASE))
    expect(seen.requests).toBe(5)
  })

  test.each([400, 401, 403, 404, 409, 410, 413, 500, 502, 504])('%i is not repeated', async (status) => {
    const { seen, client } = await openOther((_, response) => void response.writeHead(status).end('<html>'))
    expect(await refusalOf(client().access('user-1'))).toMatchObject({ status, code: 'unexpected_answer' })
    expect(seen.requests).toBe(1)
  })

  test('without an answer reading is repeated, and writing is not', async () => {
    const { seen, client } = await openOther((request) => void request.socket.destroy())
    expect(await refusalOf(client().access('user-1'))).toMatchObject({ status: null, code: 'unreachable' })
    expect(seen.requests).toBe(3)
    expect(await refusalOf(client().attribute(PURCHASE))).toMatchObject({ status: null, code: 'unreachable' })
    expect(seen.requests).toBe(4)
  })

  test('an attempt ends after its time, also while the body arrives and with a fetch that ignores its signal', async () => {
    const closed: Promise<unknown>[] = []
    const { seen, client } = await openOther((_, response) => {
      response.writeHead(200).write('{')
      closed.push(once(response, 'close'))
    })
    const options = { timeoutMs: 50, retries: 1 }
    expect(await refusalOf(client(options).access('user-1'))).toMatchObject({ code: 'timeout', status: null })
    expect(seen.requests).toBe(2)
    await Promise.all(closed)
    const deaf: Fetch = () => new Promise(() => {})
    expect(await refusalOf(client({ ...options, fetch: deaf }).access('user-1'))).toMatchObject({
      code: 'timeout',
    })
  })
})

describe('answers that are not Windfall’s', () => {
  test.each([
    ['a page', 200, '<html>', {}],
    ['other JSON', 200, '{"ok":true}', {}],
    ['a list', 200, '[]', {}],
    ['null', 200, 'null', {}],
    ['nothing', 204, '', {}],
    ['a redirect', 302, '', { location: 'https://elsewhere.example/' }],
  ])('%s is an error', async (_, status, body, headers) => {
    const { seen, client } = await openOther(
      (_, response) => void response.writeHead(status, headers).end(body || undefined),
    )
    const reading = client().readEvents({ after: 0 })[Symbol.asyncIterator]()
    const calls = [client().access('user-1'), client().identify(PURCHASE), reading.next()]
    for (const error of await Promise.all(calls.map(refusalOf)))
      expect(error).toMatchObject({ status, code: 'unexpected_answer' })
    expect(seen.requests).toBe(3)
  })
})

test('options that cannot work are refused at once, without what they contain', () => {
  const url = 'https://windfall.example'
  for (const options of [
    { url: '' },
    { url: 'windfall.example' },
    { url: 'ftp://windfall.example' },
    { url: 'https://user:password@windfall.example' },
    { url: 'https://windfall.example/?a=1' },
    { url: undefined as never },
    { url, secretKey: 'pk_live_1' },
    { url, secretKey: '' },
    { url, secretKey: 'sk_live_1\n' },
    { url, readToken: 'sk_live_1' },
    { url, readToken: null as never },
    { url, fetch: 'no' as never },
  ])
    expect(() => createClient(options)).toThrow(/^invalid_options: (?!.*(password|live_1))/)
})
