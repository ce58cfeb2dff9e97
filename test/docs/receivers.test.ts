/** The receivers of docs/webhooks.md accept what Windfall signs, and nothing else. */
import { describe, expect, test } from 'vitest'
import { exampleOf } from '../../src/forwarding/bodies/test_event.ts'
import { headersOf } from '../../src/forwarding/sending/requests.ts'
import { newSecret } from '../../src/forwarding/sending/signature.ts'
import { nonEmpty } from '../non_empty.ts'
import { FAILING_ID, printedCode, type ReceivedRequest, receive, webhooksPage } from './receivers.ts'

const SERVERS = ['server.mjs', 'plain_server.mjs']
const HANDLERS = ['express.mjs', 'app/webhooks/windfall/route.ts', 'supabase/functions/windfall/index.ts']
const SECRET = newSecret()
const EVENT = exampleOf('subscription.renewed')
const BODY = JSON.stringify(EVENT)
const MINUTE_MS = 60_000

type Signing = { id?: string; secrets?: string[]; age_ms?: number }

/** A request as Windfall sends it, `age_ms` ago. */
function requestOf({ id = EVENT.data.id, secrets = [SECRET], age_ms = 0 }: Signing = {}): ReceivedRequest {
  const delivery = { event_id: id, attempts: 0, replay_id: null }
  const signed = { kind: 'events', delivery, body: Buffer.from(BODY), secrets, ownHeaders: {} } as const
  return { body: BODY, headers: headersOf({ ...signed, now: Date.now() - age_ms }) }
}

function withoutSignature({ body, headers }: ReceivedRequest): ReceivedRequest {
  const { 'webhook-signature': _, ...others } = headers
  return { body, headers: others }
}

const withSignature = ({ body, headers }: ReceivedRequest, signature: string): ReceivedRequest => ({
  body,
  headers: { ...headers, 'webhook-signature': signature },
})

const REFUSED: Record<string, ReceivedRequest> = {
  'another body': { ...requestOf(), body: BODY.replace('1990', '1991') },
  'another secret': requestOf({ secrets: [newSecret()] }),
  'six minutes old': requestOf({ age_ms: 6 * MINUTE_MS }),
  'six minutes ahead': requestOf({ age_ms: -6 * MINUTE_MS }),
  'without a signature': withoutSignature(requestOf()),
  'a signature with other letters': withSignature(requestOf(), `v1,${'é'.repeat(44)}`),
}
const ACCEPTED: Record<string, ReceivedRequest> = {
  'one signature': requestOf(),
  'the newer of two secrets': requestOf({ secrets: [SECRET, newSecret()] }),
  'the older of two secrets': requestOf({ secrets: [newSecret(), SECRET] }),
  'four minutes old': requestOf({ age_ms: 4 * MINUTE_MS }),
}

describe.each([...SERVERS, ...HANDLERS])('%s', (file) => {
  test('accepts what Windfall signs with a known secret within five minutes, and refuses the rest', () => {
    const cases = { ...ACCEPTED, ...REFUSED }
    const receptions = receive(file, SECRET, Object.values(cases))
    const statuses = Object.keys(cases).map((name, index) => [name, receptions[index]?.status])
    const expected = Object.keys(cases).map((name) => [name, name in ACCEPTED ? 204 : 401])
    expect(statuses).toEqual(expected)
  })
})

describe.each(HANDLERS)('%s', (file) => {
  test('hands over the id and the event, answers 500 when it cannot be stored, and hands over nothing forged', () => {
    const requests = [requestOf(), requestOf({ id: FAILING_ID }), ...Object.values(REFUSED)]
    const [stored, failed, ...refused] = receive(file, SECRET, requests)
    expect(stored).toEqual({ status: 204, stored: [{ id: EVENT.data.id, event: JSON.parse(BODY) }] })
    expect(failed).toEqual({ status: 500, stored: [] })
    expect(refused).toEqual(Object.values(REFUSED).map(() => ({ status: 401, stored: [] })))
  })
})

test('the Swift handler has the names, the tolerance and the formula of a signature', () => {
  const code = printedCode('Sources/App/routes.swift')
  const headers = Object.keys(requestOf().headers)
  for (const name of nonEmpty(headers.filter((header) => header.startsWith('webhook-'))))
    expect(code).toContain(`"${name}"`)
  for (const constant of ['<= 300', '"whsec_"', '"v1,"', String.raw`"\(id).\(timestamp)."`, 'HMAC<SHA256>'])
    expect(code).toContain(constant)
})

test('every handler calls the function of the page with its two parameters', () => {
  expect(webhooksPage()).toContain('create function receive_webhook(webhook_id text, event jsonb)')
  for (const file of [...HANDLERS, 'Sources/App/routes.swift'])
    expect(printedCode(file)).toContain('receive_webhook')
})

test('the example of a body is part of the documented example', () => {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(webhooksPage()) ?? []
  expect(EVENT).toMatchObject(JSON.parse(json))
})
