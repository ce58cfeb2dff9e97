/** Every form of a webhook that is accepted or refused, with WebCrypto and without. */
import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { hmacSha256 } from '../../../sdk/js/src/server/hmac.ts'
import {
  verifyWebhook,
  type WebhookBody,
  type WebhookError,
  type WebhookHeaders,
} from '../../../sdk/js/src/server/server.ts'
import { exampleOf } from '../../../src/forwarding/bodies/test_event.ts'
import { headersOf } from '../../../src/forwarding/sending/requests.ts'
import { newSecret } from '../../../src/forwarding/sending/signature.ts'
import { runs } from '../../random.ts'

const NOW = 1_767_866_458_000
const SECRET = newSecret()
const EVENT = exampleOf('subscription.renewed')
const BODY = JSON.stringify(EVENT)

type Signing = { secrets?: string[]; body?: string; age_s?: number }

/** The headers of a request as Windfall sends it, `age_s` seconds ago. */
function signed({ secrets = [SECRET], body = BODY, age_s = 0 }: Signing = {}): Record<string, string> {
  const delivery = { event_id: EVENT.data.id, attempts: 0, replay_id: null }
  const request = { kind: 'events', delivery, body: Buffer.from(body), secrets, ownHeaders: {} } as const
  return headersOf({ ...request, now: NOW - age_s * 1_000 })
}

/** The code of a refusal, or the type of an accepted event. */
const outcomeOf = (
  headers: WebhookHeaders,
  { body = BODY, secrets = SECRET, ...options }: Partial<Parameters<typeof verify>[1]> = {},
): Promise<string> => verify(headers, { body, secrets, ...options })

type Verifying = { body: WebhookBody; secrets: string | readonly string[]; toleranceSeconds?: number }

const verify = (headers: WebhookHeaders, { body, secrets, ...options }: Verifying): Promise<string> =>
  verifyWebhook(body, headers, secrets, { now: NOW, ...options }).then(
    ({ type }) => type,
    ({ code, status }: WebhookError) => `${code} ${status}`,
  )

const ACCEPTED = 'subscription.renewed'
const {
  'webhook-id': id = '',
  'webhook-timestamp': timestamp = '',
  'webhook-signature': signature = '',
} = signed()

afterEach(() => void vi.unstubAllGlobals())

describe.each(['with WebCrypto', 'without WebCrypto'])('%s', (runtime) => {
  const prepare = () => runtime === 'without WebCrypto' && vi.stubGlobal('crypto', undefined)

  test('the signature of every message is that of Node', async () => {
    prepare()
    const bytes = (maxLength: number) => fc.uint8Array({ maxLength, size: 'max' })
    await fc.assert(
      fc.asyncProperty(bytes(64), bytes(400), async (secret, message) => {
        const key = secret.length === 0 ? Uint8Array.of(1) : secret
        const expected = createHmac('sha256', key).update(message).digest()
        expect(Buffer.from(await hmacSha256(key, message))).toEqual(expected)
      }),
      runs(200, 20_000),
    )
    for (const length of [55, 56, 63, 64, 65, 119, 120, 300_000]) {
      const [key, message] = [randomBytes(64), randomBytes(length)]
      const expected = createHmac('sha256', key).update(message).digest('hex')
      expect(Buffer.from(await hmacSha256(key, message)).toString('hex')).toBe(expected)
    }
  })

  test('the body can be text or bytes of any kind, and the headers of any runtime', async () => {
    prepare()
    const bytes = new TextEncoder().encode(BODY)
    const bodies: WebhookBody[] = [BODY, bytes, Buffer.from(BODY), bytes.buffer, bytes.subarray(0)]
    for (const body of bodies) expect(await outcomeOf(signed(), { body })).toBe(ACCEPTED)
    const upper = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]),
    )
    const lists = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name, [value]]))
    for (const headers of [new Headers(signed()), upper, lists, { ...signed(), cookie: undefined }])
      expect(await outcomeOf(headers)).toBe(ACCEPTED)
  })

  test('one of several signatures and one of several secrets suffice', async () => {
    prepare()
    const [other, third] = [newSecret(), newSecret()]
    const two = signed({ secrets: [other, SECRET] })
    expect(await outcomeOf(two)).toBe(ACCEPTED)
    expect(await outcomeOf(two, { secrets: [third, other] })).toBe(ACCEPTED)
    expect(await outcomeOf(two, { secrets: [third] })).toBe('wrong_signature 401')
    const pair = { ...two, 'webhook-signature': `v2,AAAA v1a,AAAA v1, v1,é ${two['webhook-signature']}` }
    expect(await outcomeOf(pair)).toBe(ACCEPTED)
    const commas = String(two['webhook-signature']).replace(' ', ', ')
    expect(await outcomeOf({ ...two, 'webhook-signature': commas })).toBe(ACCEPTED)
    expect(await outcomeOf({ ...two, 'webhook-signature': commas.split(', ') } as never)).toBe(ACCEPTED)
  })

  test('the library of Standard Webhooks agrees', async () => {
    prepare()
    const body = '{"type":"gap.found","data":{"name":"Zoë — 日本"}}'
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp }
    const given = new Webhook(SECRET).sign('msg_1', new Date(NOW), body)
    expect(await outcomeOf({ ...headers, 'webhook-signature': given }, { body })).toBe('gap.found')
  })

  test('what is changed by one character is refused', async () => {
    prepare()
    const changed = (text: string, at: number) =>
      `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
    const cases = fc.oneof(
      fc.record({ part: fc.constant('body'), at: fc.nat(BODY.length - 1) }),
      fc.record({ part: fc.constant('webhook-id'), at: fc.nat(id.length - 1) }),
      // The last character before the padding has bits that base64 leaves out.
      fc.record({
        part: fc.constant('webhook-signature'),
        at: fc.nat({ max: signature.length - 6 }).map((n) => n + 3),
      }),
    )
    await fc.assert(
      fc.asyncProperty(cases, async ({ part, at }) => {
        const headers = signed()
        const body = part === 'body' ? changed(BODY, at) : BODY
        if (part !== 'body') headers[part] = changed(headers[part] ?? '', at)
        expect(await outcomeOf(headers, { body })).toBe('wrong_signature 401')
      }),
      runs(200, 20_000),
    )
  })
})

const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`

test.each([
  ['a body with another amount', signed(), { body: BODY.replace('1990', '1991') }, 'wrong_signature 401'],
  [
    'a body that was parsed and written again',
    signed(),
    { body: JSON.stringify(EVENT, null, 1) },
    'wrong_signature 401',
  ],
  ['another secret', signed({ secrets: [newSecret()] }), {}, 'wrong_signature 401'],
  ['another id', { ...signed(), 'webhook-id': 'evt_other' }, {}, 'wrong_signature 401'],
  [
    'another timestamp',
    { ...signed(), 'webhook-timestamp': String(Number(timestamp) - 1) },
    {},
    'wrong_signature 401',
  ],
  [
    'no signature of this version',
    { ...signed(), 'webhook-signature': signature.replace('v1', 'v2') },
    {},
    'wrong_signature 401',
  ],
  [
    'a signature without its version',
    { ...signed(), 'webhook-signature': signature.slice(3) },
    {},
    'wrong_signature 401',
  ],
  ['an empty signature', { ...signed(), 'webhook-signature': '' }, {}, 'missing_header 401'],
  ['no headers', {}, {}, 'missing_header 401'],
  ['an id that is there twice', { ...signed(), 'Webhook-Id': 'evt_other' }, {}, 'wrong_signature 401'],
  ['a timestamp in letters', { ...signed(), 'webhook-timestamp': '0x10' }, {}, 'invalid_timestamp 401'],
  [
    'a timestamp with a sign',
    { ...signed(), 'webhook-timestamp': `+${timestamp}` },
    {},
    'invalid_timestamp 401',
  ],
  ['301 seconds old', signed({ age_s: 301 }), {}, 'timestamp_out_of_range 401'],
  ['300 seconds old', signed({ age_s: 300 }), {}, ACCEPTED],
  ['300 seconds ahead', signed({ age_s: -300 }), {}, ACCEPTED],
  ['301 seconds ahead', signed({ age_s: -301 }), {}, 'timestamp_out_of_range 401'],
  ['a day old with a tolerance of two', signed({ age_s: 86_400 }), { toleranceSeconds: 172_800 }, ACCEPTED],
  [
    'one second old with a tolerance of none',
    signed({ age_s: 1 }),
    { toleranceSeconds: 0 },
    'timestamp_out_of_range 401',
  ],
  [
    'a tolerance that is not a number',
    signed(),
    { toleranceSeconds: Number.NaN },
    'timestamp_out_of_range 401',
  ],
  ['no body', signed({ body: '' }), { body: '' }, 'invalid_body 400'],
  ['a body that is not JSON', signed({ body: 'no' }), { body: 'no' }, 'invalid_body 400'],
  ['a body that is null', signed({ body: 'null' }), { body: 'null' }, 'invalid_body 400'],
  ['a body that is no event', signed({ body: '{"type":1}' }), { body: '{"type":1}' }, 'invalid_body 400'],
  ['a body that is parsed', signed(), { body: EVENT as never }, 'body_not_raw 500'],
  ['a body that is missing', signed(), { body: null as never }, 'body_not_raw 500'],
  ['no secret', signed(), { secrets: '' }, 'invalid_secret 500'],
  ['no secrets', signed(), { secrets: [] }, 'invalid_secret 500'],
  ['a secret of no bytes', signed(), { secrets: 'whsec_' }, 'invalid_secret 500'],
  ['a secret of 23 bytes', signed(), { secrets: secretOf(23) }, 'invalid_secret 500'],
  ['a secret of 65 bytes', signed(), { secrets: secretOf(65) }, 'invalid_secret 500'],
  ['a secret of 24 bytes', signed({ secrets: [secretOf(24)] }), { secrets: secretOf(24) }, ACCEPTED],
  ['a secret of 64 bytes', signed({ secrets: [secretOf(64)] }), { secrets: secretOf(64) }, ACCEPTED],
  ['a secret without its prefix', signed(), { secrets: SECRET.slice(6) }, 'invalid_secret 500'],
  ['a secret that is not base64', signed(), { secrets: 'whsec_ä' }, 'invalid_secret 500'],
  [
    'a secret of another kind beside the right one',
    signed(),
    { secrets: [SECRET, 'sk_live_1'] },
    'invalid_secret 500',
  ],
  ['a secret with the line end of its file', signed(), { secrets: `${SECRET}\n` }, ACCEPTED],
] as const)('%s', async (_, headers, verifying, expected) => {
  expect(await outcomeOf(headers, verifying)).toBe(expected)
})

test('a signed body that is not UTF-8 is refused', async () => {
  const body = Buffer.from([0x22, 0xff, 0x22])
  const mac = createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
  const headers = { ...signed(), 'webhook-signature': `v1,${mac.digest('base64')}` }
  expect(await outcomeOf(headers, { body })).toBe('invalid_body 400')
})

test('an error says what is wrong without the secret', async () => {
  const wrong = 'whsec_c2hvcnQ='
  const error: WebhookError = await verifyWebhook(BODY, signed(), wrong).catch((thrown) => thrown)
  expect(error.name).toBe('WebhookError')
  expect(`${error.message} ${error.stack}`).not.toContain('c2hvcnQ')
  const late: WebhookError = await verifyWebhook(BODY, signed({ age_s: 400 }), SECRET, { now: NOW }).catch(
    (thrown) => thrown,
  )
  expect(late.message).toContain('400 s ago')
})
