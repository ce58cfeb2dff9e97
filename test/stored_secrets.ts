/** A Windfall whose database has a secret of every kind, and how to find one in a text. */
import { createECDH, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { codeAt } from './access/authenticator.ts'
import { openSoftAuthenticator } from './access/soft_authenticator.ts'
import { openConnecting } from './api/owner/apple/connecting.ts'
import { storeDevices } from './attribution/devices/stored.ts'
import type { TestOptions } from './helpers.ts'
import { nonEmpty } from './non_empty.ts'

const ORIGIN = 'http://localhost:1'

/** Where alerts go, and tokens as an owner enters them. Only the tokens are sealed. */
const ENTERED = {
  topic: 'windfall-of-jane-4f1c',
  chat: '-1009876543',
  recipient: 'jane@customer.example',
  device: 'Phone of Jane',
  ntfy: 'tk_entered0ntfy0token0x',
  bot: '123456:entered-bot-token-AbCdEfGhIj',
  smtp: 'entered smtp password',
  push: 'https://push.example.net/entered-push-path',
  header: 'Bearer entered-header-value',
  url_token: 'entered-url-token',
  password_hash: 'hash-of-the-entered-password',
}

const CHANNELS = [
  { name: 'news', kind: 'ntfy', settings: { topic: ENTERED.topic }, secrets: { token: ENTERED.ntfy } },
  { name: 'bot', kind: 'telegram', settings: { chat_id: ENTERED.chat }, secrets: { token: ENTERED.bot } },
  {
    name: 'mail',
    kind: 'email',
    settings: { host: 'mail.customer.example', from: ENTERED.recipient, to: ENTERED.recipient },
    secrets: { password: ENTERED.smtp },
  },
]

/** Columns of secrets, of what identifies them, and of who gets alerts. The test of this list names what is missing. */
export const SECRET_COLUMNS: readonly (readonly [table: string, column: string])[] = [
  ['sdk_keys', 'token'],
  ['sdk_keys', 'hash'],
  ['apple_keys', 'key_id'],
  ['apple_keys', 'issuer_id'],
  ['apple_keys', 'sealed'],
  ['apple_keys', 'vendor_numbers'],
  ['api_tokens', 'hash'],
  ['owner', 'password'],
  ['owner', 'link_hash'],
  ['authenticator', 'sealed'],
  ['recovery_codes', 'hash'],
  ['passkeys', 'credential_id'],
  ['passkeys', 'public_key'],
  ['share_links', 'hash'],
  ['share_links', 'passcode'],
  ['sessions', 'hash'],
  ['devices', 'key_id'],
  ['devices', 'public_key'],
  ['devices', 'receipt'],
  ['devices', 'token_hash'],
  ['endpoints', 'headers'],
  ['endpoint_secrets', 'sealed'],
  ['alert_channels', 'settings'],
  ['alert_channels', 'sealed'],
  ['widget_tokens', 'hash'],
  ['widget_tokens', 'token'],
]

/** Opens a Windfall with a simulated store, whose owner has entered and made every kind of secret. */
export async function openWithSecrets({ env, ...options }: TestOptions = {}) {
  const connecting = await openConnecting({
    ...options,
    env: {
      WINDFALL_BASE_URL: ORIGIN,
      WINDFALL_RATES_FETCH: 'false',
      WINDFALL_ALERTS_CONTACT: 'owner@customer.example',
      ...env,
    },
  })
  const { app, call, enter, shop, connect, purchases } = connecting
  const { windfall } = app
  const made = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    expect([path, answer.status < 300 ? 'done' : answer]).toEqual([path, 'done'])
    return answer.body as Record<string, unknown>
  }
  await windfall.store.commit(() => windfall.owner.setPassword(ENTERED.password_hash))
  await enter('connect', connect)
  await enter('purchases', purchases)
  await made('vendor-numbers', { vendor_numbers: [shop.store.vendor_number] })
  for (const channel of CHANNELS) await made('alerts/channels', channel)
  await made('alerts/devices/key', {})
  const p256dh = createECDH('prime256v1').generateKeys('base64url')
  const keys = { p256dh, auth: randomBytes(16).toString('base64url') }
  const subscription = { endpoint: ENTERED.push, expirationTime: null, keys }
  await made('alerts/devices', { name: ENTERED.device, subscription })
  const { secret } = await made('second-factor/setup', {})
  const second = await made('second-factor', { code: codeAt(String(secret), app.clock()) })
  const passkey = openSoftAuthenticator({ origin: ORIGIN }).create(
    (await made('passkeys/setup', {})) as { challenge: string },
  )
  await made('passkeys', { name: 'Mac', passkey })
  const badge = { kind: 'badge', label: 'readme', metrics: ['mrr'] }
  const tokens = [
    (await made('widgets', { kind: 'widget', label: 'home' })).token,
    (await made('widgets', badge)).token,
    (await made('tokens', { label: 'laptop' })).token,
    (await made('share-links', { label: 'board', basis: 'gross', passcode: 'entered passcode' })).url,
    await app.key('secret'),
  ]
  await storeDevices(windfall, ['entered-key-of-a-device'])
  const url = `https://backend.example/${ENTERED.url_token}?key=${ENTERED.url_token}`
  const endpoint = await made('endpoints', { name: 'backend', url, headers: { 'x-key': ENTERED.header } })
  const vapid = windfall.store
    .prepare<[], { value: string }>("select value from settings where key = 'vapid'")
    .get()
  const values = [
    ...Object.values(ENTERED),
    ...[keys.p256dh, keys.auth, secret, endpoint.secret, ...tokens].map(String),
    ...(second.recovery_codes as string[]),
    ...[connect, purchases].flatMap(({ private_key }) => private_key.split('\n').slice(1, 3)),
    JSON.parse(vapid?.value ?? '{}').sealed as string,
    ...nonEmpty(SECRET_COLUMNS).flatMap(([table, column]) => valuesOf(table, column)),
  ]

  /** Every text and blob of a column; of JSON, each text in it. */
  function valuesOf(table: string, column: string): (string | Buffer)[] {
    const sql = `select ${column} as value from ${table} where ${column} is not null`
    const stored = windfall.store.prepare<[], { value: string | Buffer }>(sql).all()
    return stored.flatMap(({ value }) =>
      typeof value === 'string' && /^[[{]/.test(value) ? textsIn(JSON.parse(value)) : value,
    )
  }

  // Shorter values, such as the name of a host, also occur elsewhere.
  const secrets = nonEmpty(values.filter(({ length }) => length >= 8))
  return { ...connecting, secrets }
}

const textsIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [String(value)]

/** A value as it may occur in a file: plain, in base64 at each of three offsets, in hexadecimal, percent-encoded. */
export function formsOf(value: string | Buffer): string[] {
  const bytes = Buffer.from(value)
  const text = value.toString()
  const shifted = [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes])
    // The first and the last characters also depend on the bytes around the text.
    const cut = (encoding: 'base64' | 'base64url') =>
      padded
        .toString(encoding)
        .replace(/=+$/, '')
        .slice(offset === 0 ? 0 : offset + 1, -1)
    return [cut('base64'), cut('base64url')]
  })
  const quoted = JSON.stringify(text).slice(1, -1)
  const all = [text, quoted, ...shifted, bytes.toString('hex'), encodeURIComponent(text)]
  return [...new Set(all)].filter((form) => form.length >= 4)
}

/** The forms of the values that occur in a text. */
export const formsIn = (text: string, values: readonly (string | Buffer)[]): string[] =>
  nonEmpty(values).flatMap((value) => formsOf(value).filter((form) => text.includes(form)))
