import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ConnectApi, type ConnectOptions, openConnectApi } from '../../../src/apple/api/connect.ts'
import { AppleFault, type FaultKind } from '../../../src/apple/api/faults.ts'
import type { ApiKey } from '../../../src/apple/api/keys.ts'
import { utcMinuteText } from '../../../src/days.ts'
import { type HandClock, handClock } from '../../helpers.ts'
import { NOW } from '../samples.ts'
import { haveVectors, textOf } from '../vectors.ts'
import { handWaits, newKey, openScripted, type Reply } from './scripted.ts'

const MINUTE = 60_000
const TSV = 'Provider\tSKU\tUnits\nAPPLE\tlantern\t3\n'
const QUESTION = {
  kind: 'subscription',
  vendor_number: '85012345',
  day: '2026-05-30',
  version: '1_3',
} as const

/** An error in the format of App Store Connect (JSON:API). */
const refusal = (status: number, code: string, detail: string, parameter?: string): Reply => ({
  status,
  json: {
    errors: [
      {
        id: 'c5a1d2c4',
        status: String(status),
        code,
        title: 'A title',
        detail,
        ...(parameter && { source: { parameter } }),
      },
    ],
  },
})
const wrongVersion = (latest: string) =>
  refusal(
    400,
    'PARAMETER_ERROR.INVALID',
    `The version parameter you have specified is invalid. The latest version for this report is ${latest}.`,
    'filter[version]',
  )
const report = (body: Buffer | string): Reply => ({ headers: { 'content-type': 'application/a-gzip' }, body })
const appItem = (n: number, changes: object = {}) => ({
  type: 'apps',
  id: String(1_234_567_890 + n),
  attributes: {
    name: `App ${n}`,
    bundleId: `com.example.app${n}`,
    sku: `SKU${n}`,
    primaryLocale: 'en-US',
    ...changes,
  },
  links: { self: 'https://example.com' },
})

let key: ApiKey
let clock: HandClock
let apple: Awaited<ReturnType<typeof openScripted>>
let opened: ConnectApi[]
let waits: number[]

beforeEach(async () => {
  key = newKey()
  clock = handClock()
  apple = await openScripted()
  opened = []
})
afterEach(async () => {
  for (const api of opened) await api.close()
  await apple.close()
})

function open(changes: Partial<ConnectOptions> = {}): ConnectApi {
  const hand = handWaits(clock)
  waits = hand.waits
  const api = openConnectApi({
    key,
    clock,
    host: apple.host,
    wait: hand.wait,
    random: hand.random,
    ...changes,
  })
  opened.push(api)
  return api
}

/** Returns the fault of a call that must fail, and checks that it has no secrets. */
async function faultOf(call: Promise<unknown>): Promise<AppleFault> {
  const fault = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(fault instanceof AppleFault)) throw new Error(`expected an AppleFault: ${String(fault)}`)
  for (const { token } of apple.requests) expect(fault.message).not.toContain(token)
  return fault
}

describe('a report', () => {
  test('is requested as documented by Apple, and returned unchanged', async () => {
    const body = gzipSync(TSV)
    apple.answerWith(report(body))
    const kinds = ['sales', 'subscription', 'subscription_event', 'subscriber'] as const
    for (const kind of kinds) {
      expect(await open().report({ ...QUESTION, kind })).toEqual({ outcome: 'report', body, version: '1_3' })
    }
    const n = apple.requests.map(({ query }) => [
      query.get('filter[reportType]'),
      query.get('filter[reportSubType]'),
    ])
    expect(n).toEqual([
      ['SALES', 'SUMMARY'],
      ['SUBSCRIPTION', 'SUMMARY'],
      ['SUBSCRIPTION_EVENT', 'SUMMARY'],
      ['SUBSCRIBER', 'DETAILED'],
    ])
    const [first] = apple.requests
    expect(first?.path).toBe('/v1/salesReports')
    expect(first?.headers.accept).toBe('application/a-gzip')
    expect(Object.fromEntries(first?.query ?? [])).toMatchObject({
      'filter[frequency]': 'DAILY',
      'filter[vendorNumber]': '85012345',
      'filter[reportDate]': '2026-05-30',
      'filter[version]': '1_3',
    })
  })

  test('in plain text is accepted', async () => {
    apple.answerWith(report(TSV))
    expect(await open().report(QUESTION)).toEqual({
      outcome: 'report',
      body: Buffer.from(TSV),
      version: '1_3',
    })
  })

  test('without a known version is requested without one, which Apple treats as 1_0', async () => {
    apple.answerWith(report(TSV))
    expect(await open().report({ ...QUESTION, kind: 'sales', version: null })).toMatchObject({
      version: '1_0',
    })
    expect(apple.requests[0]?.query.has('filter[version]')).toBe(false)
  })

  test.each<[what: string, reply: Reply, answer: object]>([
    [
      'a day without sales',
      refusal(404, 'NOT_FOUND', 'There were no sales for the date specified.'),
      { outcome: 'empty', version: '1_3' },
    ],
    [
      'a day without sales, in other letters',
      refusal(404, 'NOT_FOUND', 'THERE WERE NO SALES FOR THE DATE SPECIFIED'),
      { outcome: 'empty', version: '1_3' },
    ],
    [
      'a day to come',
      refusal(
        404,
        'NOT_FOUND',
        'Report is not available yet. Daily reports are available on the following day.',
      ),
      { outcome: 'not_yet' },
    ],
    [
      'a late report',
      refusal(404, 'NOT_FOUND', 'The report you requested is not available yet. Try again later.'),
      { outcome: 'not_yet' },
    ],
    [
      'a day too long ago',
      refusal(410, 'GONE', 'Report is no longer available. Daily reports are available for 365 days.'),
      { outcome: 'gone' },
    ],
    ['a day too long ago, without words', { status: 410 }, { outcome: 'gone' }],
    [
      'a day too long ago, under another status',
      refusal(404, 'NOT_FOUND', 'Report is no longer available.'),
      { outcome: 'gone' },
    ],
  ])('of %s is recognized by Apple’s message', async (_, reply, answer) => {
    apple.answerWith(reply)
    expect(await open().report(QUESTION)).toEqual(answer)
    expect(apple.requests).toHaveLength(1)
  })

  test.each([
    wrongVersion('1_4'),
    refusal(
      400,
      'PARAMETER_ERROR',
      'Please include the version parameter. THE LATEST VERSION for this report is 1_4.',
    ),
  ])('of a retired version is requested again in the version that Apple names', async (no) => {
    apple.answerWith(no, report(TSV))
    const answer = await open().report(QUESTION)
    expect(answer).toEqual({ outcome: 'report', body: Buffer.from(TSV), version: '1_4' })
    expect(apple.requests.map(({ query }) => query.get('filter[version]'))).toEqual(['1_3', '1_4'])
  })

  test('of a day without sales is empty in the version that Apple names', async () => {
    apple.answerWith(
      wrongVersion('1_4'),
      refusal(404, 'NOT_FOUND', 'There were no sales for the date specified.'),
    )
    expect(await open().report(QUESTION)).toEqual({ outcome: 'empty', version: '1_4' })
  })

  test('is refused without more requests if Apple refuses the version that it named', async () => {
    apple.answerWith(wrongVersion('1_4'), wrongVersion('1_5'))
    expect(await faultOf(open().report(QUESTION))).toMatchObject({
      kind: 'refused',
      status: 400,
      code: 'PARAMETER_ERROR.INVALID',
      message: expect.stringContaining('The latest version for this report is 1_5'),
    })
    apple.answerWith(wrongVersion('1_3'))
    expect(await faultOf(open().report(QUESTION))).toMatchObject({ kind: 'refused' })
    expect(apple.requests).toHaveLength(3)
  })

  test.runIf(haveVectors)('learns the version from Apple’s own refusal', async () => {
    const json: unknown = JSON.parse(textOf('sales-reports/invalid.parameter.json'))
    apple.answerWith({ status: 400, json }, report(TSV))
    expect(await open().report(QUESTION)).toMatchObject({ outcome: 'report', version: '1_0' })
  })

  test.each<[what: string, reply: Reply]>([
    ['a page of HTML', { headers: { 'content-type': 'text/html' }, body: '<html>\tPlease log in</html>' }],
    ['JSON', { json: { data: [] } }],
    ['nothing', { body: '' }],
  ])('that is %s is refused', async (_, reply) => {
    apple.answerWith(reply)
    expect(await faultOf(open().report(QUESTION))).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining('is not a sales report'),
    })
    expect(apple.requests).toHaveLength(1)
  })

  test('longer than 64 MB is given up', async () => {
    apple.answerWith(report(Buffer.alloc(65 * 1_048_576, 'a\t')))
    expect(await faultOf(open().report(QUESTION))).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining('larger than the limit of 64 MB'),
    })
  })
})

describe('a refusal has Apple’s message and what to do', () => {
  test.each<[reply: Reply, kind: FaultKind, words: string[]]>([
    [
      refusal(401, 'NOT_AUTHORIZED', 'Provide a properly configured and signed bearer token.'),
      'unauthorized',
      [
        'Apple refused the key (401)',
        'properly configured',
        'check that it is an App Store Connect API key',
        'In-App Purchase',
      ],
    ],
    [{ status: 401 }, 'unauthorized', ['Apple refused the key (401): check that']],
    [
      refusal(403, 'FORBIDDEN_ERROR', 'The API key in use does not allow this request'),
      'forbidden',
      ['does not allow this request', 'Admin, Finance or Sales'],
    ],
    [
      refusal(
        403,
        'FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED',
        'This request requires an in-effect agreement that has not been signed or has expired.',
      ),
      'agreement',
      ['in-effect agreement', 'Account Holder', 'Business'],
    ],
    [
      refusal(403, 'FORBIDDEN', 'The Account Holder must agree to the latest Program License Agreement.'),
      'agreement',
      ['Program License Agreement', 'developer.apple.com/account'],
    ],
    [
      refusal(400, 'PARAMETER_ERROR.INVALID', 'Invalid vendor number specified.', 'filter[vendorNumber]'),
      'refused',
      ['Invalid vendor number', 'Payments and Financial Reports'],
    ],
    [
      refusal(400, 'PARAMETER_ERROR.INVALID', 'Something else.', 'filter[frequency]'),
      'refused',
      ['Something else.', 'a retry does not help'],
    ],
    [
      refusal(404, 'NOT_FOUND', 'The specified resource does not exist.'),
      'not_found',
      ['(404)', 'does not exist'],
    ],
    [
      refusal(406, 'NOT_ACCEPTABLE', 'The provided Accept header is not supported'),
      'refused',
      ['Accept header'],
    ],
    [{ status: 302, headers: { location: 'https://example.com/' } }, 'unreadable', ['(302)']],
    [{ status: 204 }, 'unreadable', ['(204)']],
    [
      refusal(404, 'NOT_FOUND', 'The latest version for this report is 1_4.'),
      'not_found',
      ['latest version'],
    ],
  ])('%j', async (reply, kind, words) => {
    apple.answerWith(reply)
    const fault = await faultOf(open().report(QUESTION))
    expect(fault).toMatchObject({ kind, status: reply.status })
    for (const part of words) expect(fault.message).toContain(part)
    expect(apple.requests).toHaveLength(1)
  })

  test('names the role that a request needs', async () => {
    apple.answerWith(refusal(403, 'FORBIDDEN_ERROR', 'No.'))
    const api = open()
    expect(await faultOf(api.teams())).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('bundle ids'),
    })
    expect(await faultOf(api.subscriptions(1))).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('subscriptions'),
    })
    expect(await faultOf(api.apps())).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('list apps'),
    })
  })

  test('names a clock that differs from Apple’s', async () => {
    const date = new Date(NOW - 7 * MINUTE).toUTCString()
    apple.answerWith({ status: 401, headers: { date } })
    expect((await faultOf(open().apps())).message).toContain('7 min ahead of Apple’s')
    apple.answerWith({ status: 401, headers: { date: new Date(NOW).toUTCString() } })
    expect((await faultOf(open().apps())).message).not.toContain('clock')
  })

  test('has one line of limited length, without control characters and without the token', async () => {
    apple.script.answer = ({ token }) =>
      refusal(400, 'X', `\u001b[31mred\nline\u2028 ${token} ${'long '.repeat(1000)}`)
    const { message } = await faultOf(open().apps())
    expect(message).toMatch(/red line … long/)
    expect(message).not.toMatch(/\p{Cc}|\p{Zl}/u)
    expect(message.length).toBeLessThan(700)
  })
})

describe('a temporary error is retried', () => {
  test.each<[what: string, reply: Reply]>([
    ['500', { status: 500, body: 'oops' }],
    ['502', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['503', { status: 503 }],
    ['an answer that breaks off', { ...report(gzipSync(TSV)), cut: true }],
  ])('%s, after pauses that grow', async (_, reply) => {
    apple.answerWith(reply, reply, reply, report(TSV))
    expect(await open().report(QUESTION)).toMatchObject({ outcome: 'report' })
    expect(waits).toEqual([500, 2000, 8000])
  })

  test('a limited number of times', async () => {
    apple.answerWith({ status: 503 })
    const fault = await faultOf(open().apps())
    expect(fault).toMatchObject({ kind: 'unavailable', status: 503, retry_at: null })
    expect(apple.requests).toHaveLength(4)
  })

  test('at the time that Apple names, or is thrown if that is too late', async () => {
    apple.answerWith({ status: 503, headers: { 'retry-after': '12' } }, { json: { data: [] } })
    expect(await open().apps()).toEqual([])
    expect(waits).toEqual([12_000])
    apple.answerWith({ status: 503, headers: { 'retry-after': '120' } })
    const at = clock() + 120_000
    expect(await faultOf(open().apps())).toMatchObject({ kind: 'unavailable', retry_at: at })
    expect(waits).toEqual([])
  })

  test('after random pauses', async () => {
    apple.answerWith({ status: 503 })
    await faultOf(open({ random: () => 0 }).apps())
    expect(waits).toEqual([250, 1000, 4000])
  })

  test('and is reported if there is no response', async () => {
    apple.answerWith({ hang: true })
    const slow = await faultOf(open({ timeoutMs: 5 }).apps())
    expect(slow).toMatchObject({ kind: 'unavailable', status: null })
    expect(slow.message).toContain('did not answer in time')
    apple.answerWith({ drip: true })
    const endless = await faultOf(open({ timeoutMs: 5 }).apps())
    expect(endless).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('in time') })
    const nowhere = await openScripted()
    await nowhere.close()
    const fault = await faultOf(open({ host: nowhere.host }).apps())
    expect(fault).toMatchObject({ kind: 'unavailable', status: null, code: 'ECONNREFUSED' })
    expect(fault.message).toContain('Check that this machine is online')
    expect(waits).toHaveLength(3)
  })

  test('until close, which ends running and waiting requests', async () => {
    apple.answerWith({ hang: true })
    const hanging = open()
    const arrived = new Promise<void>((seen) => {
      apple.script.answer = () => {
        seen()
        return { hang: true }
      }
    })
    const call = faultOf(hanging.apps())
    await arrived
    await hanging.close()
    expect(await call).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('stopping') })
    expect((await faultOf(hanging.apps())).message).toContain('stopping')
    apple.answerWith({ status: 503 })
    const { promise: waiting, resolve } = Promise.withResolvers<void>()
    const patient = open({
      wait: () => {
        resolve()
        return new Promise(() => {})
      },
    })
    const second = faultOf(patient.apps())
    await waiting
    await patient.close()
    expect((await second).message).toContain('stopping')
    const before = apple.requests.length
    const own = openConnectApi({ key, clock, host: apple.host })
    const third = faultOf(own.apps())
    while (apple.requests.length === before) await new Promise(setImmediate)
    await own.close()
    expect((await third).message).toMatch(/stopping/)
  })
})

describe('a token', () => {
  test('is reused, and renewed once if Apple refuses it after accepting it', async () => {
    const api = open()
    apple.answerWith({ json: { data: [] } })
    await api.apps()
    await api.apps()
    const [first, second] = apple.requests
    expect(second?.token).toBe(first?.token)
    let refused = ''
    apple.script.answer = ({ token }) => {
      if (refused === '') refused = token
      return token === refused ? { status: 401 } : { json: { data: [] } }
    }
    expect(await Promise.all([api.apps(), api.apps()])).toEqual([[], []])
    const tokens = new Set(apple.requests.map(({ token }) => token))
    expect(tokens.size).toBe(2)
    apple.answerWith({ status: 401 })
    const before = apple.requests.length
    expect(await faultOf(api.apps())).toMatchObject({ kind: 'unauthorized' })
    expect(apple.requests.length - before).toBe(2)
  })

  test('that Apple never accepted is not renewed', async () => {
    apple.answerWith({ status: 401 })
    expect(await faultOf(open().apps())).toMatchObject({ kind: 'unauthorized', status: 401 })
    expect(apple.requests).toHaveLength(1)
  })

  test('of an invalid key is never sent', async () => {
    const fault = await faultOf(open({ key: { ...key, private_key: 'AuthKey.p8' } }).apps())
    expect(fault).toMatchObject({ kind: 'unauthorized', status: null })
    expect(fault.message).toContain('not a private key')
    expect(apple.requests).toHaveLength(0)
  })
})

describe('apps', () => {
  test('are collected from every page and converted', async () => {
    apple.script.answer = ({ query }) => {
      const page = Number(query.get('cursor') ?? 0)
      const next = page < 2 ? `${apple.host}/v1/apps?limit=200&cursor=${page + 1}` : undefined
      return {
        json: {
          data: [appItem(2 * page), appItem(2 * page + 1)],
          links: { self: 'x', ...(next && { next }) },
          meta: { paging: { total: 6, limit: 200 } },
        },
      }
    }
    const apps = await open().apps()
    expect(apps).toHaveLength(6)
    expect(apps[0]).toEqual({
      apple_id: 1_234_567_890,
      bundle_id: 'com.example.app0',
      name: 'App 0',
      sku: 'SKU0',
    })
    expect(apple.requests[0]?.query.get('fields[apps]')).toBe('name,bundleId,sku')
    expect(apple.requests[0]?.query.get('limit')).toBe('200')
  })

  test.each([
    'https://evil.example.com/v1/apps?cursor=1',
    'http://127.0.0.1:1/v1/apps',
    '//evil.example.com/v1',
    '/v1/apps?cursor=1',
    'javascript:alert(1)',
  ])('are not requested from %s, which must not get the token', async (next) => {
    apple.answerWith({ json: { data: [appItem(1)], links: { next } } })
    expect(await faultOf(open().apps())).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining('does not follow the link'),
    })
    expect(apple.requests).toHaveLength(1)
  })

  test('on a list with a repeated page are given up', async () => {
    apple.answerWith({ json: { data: [], links: { next: `${apple.host}/v1/apps?cursor=1` } } })
    expect(await faultOf(open().apps())).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining('has too many pages'),
    })
    expect(apple.requests).toHaveLength(2)
  })

  test.each<[what: string, reply: Reply, words: string]>([
    ['no JSON', { body: '<html>' }, 'it is not JSON'],
    ['not UTF-8', { body: Buffer.from('{"data":["\xff"]}', 'latin1') }, 'it is not JSON'],
    ['another shape', { json: { apps: [] } }, 'data'],
    ['a list of texts', { json: { data: ['app'] } }, 'data.0'],
    ['no bundle id', { json: { data: [appItem(1, { bundleId: undefined })] } }, 'data.0.attributes.bundleId'],
    [
      'a bundle id that is none',
      { json: { data: [appItem(1, { bundleId: 7 })] } },
      'data.0.attributes.bundleId',
    ],
    ['an id that is no number', { json: { data: [{ ...appItem(1), id: 'x1' }] } }, 'data.0.id: not a number'],
    ['too much', { body: Buffer.alloc(9 * 1_048_576, ' ') }, 'larger than the limit of 8 MB'],
  ])('in a response with %s are refused', async (_, reply, words) => {
    apple.answerWith(reply)
    const fault = await faultOf(open().apps())
    expect(fault.kind).toBe('unreadable')
    expect(fault.message).toContain(words)
    expect(apple.requests).toHaveLength(1)
  })
})

describe('subscriptions and teams', () => {
  test('have their groups, and periods in ISO 8601', async () => {
    const periods = [
      'ONE_WEEK',
      'ONE_MONTH',
      'TWO_MONTHS',
      'THREE_MONTHS',
      'SIX_MONTHS',
      'ONE_YEAR',
      'ONE_AGE',
      null,
    ]
    apple.script.answer = ({ path }) => {
      if (path === '/v1/apps/42/subscriptionGroups') {
        const data = [{ id: '21', attributes: { referenceName: 'Pro' } }, { id: '22' }]
        return { json: { data } }
      }
      const items = path === '/v1/subscriptionGroups/21/subscriptions' ? periods : []
      const data = items.map((subscriptionPeriod, n) => ({
        id: `90${n}`,
        attributes: {
          productId: `pro.${n}`,
          name: 'Pro',
          subscriptionPeriod,
          groupLevel: n,
          state: 'APPROVED',
        },
      }))
      return {
        json: { data: [...data, ...(items.length ? [{ id: '99', attributes: { productId: 'new' } }] : [])] },
      }
    }
    const listed = await open().subscriptions(42)
    expect(listed.map(({ period }) => period)).toEqual([
      'P1W',
      'P1M',
      'P2M',
      'P3M',
      'P6M',
      'P1Y',
      null,
      null,
      null,
    ])
    expect(listed[1]).toEqual({
      product_id: 'pro.1',
      apple_id: '901',
      name: 'Pro',
      period: 'P1M',
      group_id: '21',
      group_name: 'Pro',
      group_level: 1,
    })
    expect(listed.at(-1)).toEqual({
      product_id: 'new',
      apple_id: '99',
      name: null,
      period: null,
      group_id: '21',
      group_name: 'Pro',
      group_level: null,
    })
  })

  test('teams are known by bundle id if Apple names one', async () => {
    const data = [
      { id: 'A', attributes: { identifier: 'com.example.a', seedId: 'TEAM123456', platform: 'IOS' } },
      { id: 'B', attributes: { identifier: 'com.example.b' } },
    ]
    apple.answerWith({ json: { data } })
    expect(await open().teams()).toEqual(new Map([['com.example.a', 'TEAM123456']]))
    expect(apple.requests[0]?.path).toBe('/v1/bundleIds')
  })
})

describe('Apple’s hourly limit', () => {
  const rate = (remaining: number, limit = 20): Reply => ({
    headers: { 'x-rate-limit': `user-hour-lim:${limit};user-hour-rem:${remaining};` },
    json: { data: [] },
  })

  test('is the limit of the latest response that has one', async () => {
    const api = open()
    expect(api.budget()).toBeNull()
    apple.answerWith(rate(500, 3500))
    await api.apps()
    expect(api.budget()).toEqual({ limit: 3500, remaining: 500 })
    apple.answerWith({ headers: { 'x-rate-limit': 'something new' }, json: { data: [] } })
    await api.apps()
    expect(api.budget()).toEqual({ limit: 3500, remaining: 500 })
  })

  test('is used up to a tenth; then only interactive requests are sent until it resets', async () => {
    const api = open()
    let left = 20
    apple.script.answer = () => rate(--left)
    for (let n = 0; n < 18; n++) await api.apps()
    expect(api.budget()?.remaining).toBe(2)
    const fault = await faultOf(api.apps())
    expect(fault).toMatchObject({ kind: 'rate_limited', status: null })
    expect(fault.retry_at).toBeGreaterThanOrEqual(NOW + 60 * MINUTE)
    expect(fault.retry_at).toBeLessThanOrEqual(NOW + 61 * MINUTE)
    expect(fault.message).toContain(`continues at ${utcMinuteText(fault.retry_at ?? 0)}`)
    expect(apple.requests).toHaveLength(18)
    await api.apps({ urgent: true })
    expect(apple.requests).toHaveLength(19)
    clock.set((fault.retry_at ?? 0) - 31_000)
    await faultOf(api.apps())
    expect(apple.requests).toHaveLength(19)
    clock.set(fault.retry_at ?? 0)
    left = 20
    await api.apps()
    expect(api.budget()?.remaining).toBe(19)
  })

  test('resets after an hour without requests, or if the clock is set back by an hour', async () => {
    const api = open()
    for (const turn of [60 * MINUTE, -60 * MINUTE]) {
      apple.answerWith(rate(1), rate(19))
      await api.apps({ urgent: true })
      clock.turn(turn)
      await api.apps()
      expect(api.budget()?.remaining).toBe(19)
    }
  })

  test('is not exceeded by concurrent calls', async () => {
    const api = open()
    apple.answerWith(rate(6))
    await api.apps()
    let left = 6
    apple.script.answer = () => rate(--left)
    const settled = await Promise.allSettled(Array.from({ length: 9 }, () => api.apps()))
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(left).toBe(2)
  })

  test('is checked again once after five minutes if other clients use it up', async () => {
    const api = open()
    apple.answerWith(rate(1, 3500))
    await api.apps()
    expect(await faultOf(api.apps())).toMatchObject({ retry_at: NOW + 5 * MINUTE })
    clock.turn(5 * MINUTE)
    await api.apps()
    expect(await faultOf(api.apps())).toMatchObject({ retry_at: NOW + 10 * MINUTE })
    expect(apple.requests).toHaveLength(2)
  })

  test.each<[retryAfter: string | null, minutes: number]>([
    ['600', 10],
    [String(NOW + 20 * MINUTE), 20],
    [String(NOW + 9000 * MINUTE), 60],
    ['soon', 5],
    [null, 5],
  ])(
    'is used up when Apple says so (retry-after: %s), and no request is sent for %i minutes',
    async (after, minutes) => {
      const headers: Record<string, string> = after === null ? {} : { 'retry-after': after }
      apple.answerWith({
        ...refusal(429, 'RATE_LIMIT_EXCEEDED', 'We’ve received too many requests for this API.'),
        headers,
      })
      const api = open()
      const retry_at = NOW + minutes * MINUTE
      expect(await faultOf(api.apps())).toMatchObject({
        kind: 'rate_limited',
        status: 429,
        code: 'RATE_LIMIT_EXCEEDED',
        retry_at,
      })
      clock.set(retry_at - 31_000)
      expect(await faultOf(api.report(QUESTION))).toMatchObject({
        kind: 'rate_limited',
        status: null,
        retry_at,
      })
      expect(apple.requests).toHaveLength(1)
      if (minutes === 60) clock.set(NOW - 9000 * MINUTE)
      else clock.set(retry_at)
      apple.answerWith({ json: { data: [] } })
      expect(await api.apps()).toEqual([])
    },
  )
})
