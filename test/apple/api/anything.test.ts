import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConnectApi, openConnectApi } from '../../../src/apple/api/connect.ts'
import { AppleFault } from '../../../src/apple/api/faults.ts'
import { openServerApi, type ServerApi } from '../../../src/apple/api/server.ts'
import { handClock } from '../../helpers.ts'
import { runs } from '../../random.ts'
import { BUNDLE, NOW } from '../samples.ts'
import { handWaits, newKey, openScripted, type Reply } from './scripted.ts'

const clock = handClock()
const { wait, random } = handWaits(clock)
let apple: Awaited<ReturnType<typeof openScripted>>
let connect: ConnectApi
let server: ServerApi

beforeAll(async () => {
  apple = await openScripted()
  const shared = { key: newKey(), clock, wait, random }
  connect = openConnectApi({ ...shared, host: apple.host })
  const hosts = { production: apple.host, sandbox: apple.host }
  server = openServerApi({ ...shared, bundle_id: BUNDLE, hosts })
})
afterAll(async () => {
  await connect.close()
  await server.close()
  await apple.close()
})

const WORDS = [
  'There were no sales',
  'not available yet',
  'latest version for this report is 1_4',
  'agreement',
  '',
]
const error = fc.record({ code: fc.string(), detail: fc.constantFrom(...WORDS) }, { requiredKeys: [] })
const json = fc.oneof(
  fc.jsonValue(),
  fc.record({ errors: fc.array(fc.oneof(error, fc.jsonValue()), { maxLength: 3 }) }),
  fc.record({ errorCode: fc.oneof(fc.integer(), fc.jsonValue()), errorMessage: fc.jsonValue() }),
  fc.record({
    data: fc.array(fc.jsonValue()),
    links: fc.record({ next: fc.webUrl() }, { requiredKeys: [] }),
  }),
)
const reply: fc.Arbitrary<Reply> = fc
  .record({
    status: fc.constantFrom(200, 200, 200, 201, 301, 400, 401, 403, 404, 404, 410, 429, 500),
    retry: fc.constantFrom(
      '',
      '-1',
      '1e99',
      '30',
      String(NOW),
      String(NOW + 3e10),
      'Sun, 06 Nov 1994 08:49:37 GMT',
    ),
    rate: fc.constantFrom(
      '',
      'user-hour-lim:3500;user-hour-rem:3499;',
      'user-hour-lim:0;user-hour-rem:99;',
      ';;',
    ),
    body: fc.oneof(
      json.map((value) => Buffer.from(JSON.stringify(value))),
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    ),
    cut: fc.boolean(),
  })
  .map(({ status, retry, rate, body, cut }) => ({
    status,
    headers: { 'retry-after': retry, 'x-rate-limit': rate },
    body,
    cut,
  }))

test('for any response, every call returns its result or throws an AppleFault', async () => {
  const request = { kind: 'sales', vendor_number: '85012345', day: '2026-05-30', version: null } as const
  const window = { from: NOW - 3_600_000, until: NOW, page: null }
  const calls = [
    () => connect.apps({ urgent: true }),
    () => connect.teams({ urgent: true }),
    () => connect.subscriptions(1, { urgent: true }),
    () => connect.report({ ...request, urgent: true }),
    () => server.notificationHistory('production', window),
    () => server.transactionHistory('production', '1', null),
    () => server.statuses('sandbox', '1'),
    () => server.requestTest('sandbox'),
    () => server.testStatus('production', 'token'),
  ]
  const property = fc.asyncProperty(fc.constantFrom(...calls), reply, async (call, answer) => {
    clock.turn(3_600_000)
    apple.answerWith(answer)
    const outcome: unknown = await call().catch((fault: unknown) => fault)
    const known =
      outcome instanceof AppleFault || (typeof outcome === 'object' && !(outcome instanceof Error))
    expect(known, String(outcome)).toBe(true)
    if (!(outcome instanceof AppleFault)) return
    expect(outcome.message.length).toBeGreaterThan(30)
    expect(outcome.message).not.toContain('eyJ')
    const { retry_at } = outcome
    if (outcome.kind === 'rate_limited') expect(retry_at).not.toBeNull()
    if (retry_at !== null) expect(retry_at - clock()).toBeLessThanOrEqual(3_660_000)
  })
  await fc.assert(property, runs(200, 5000))
})
