import { createECDH, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openSignedIn } from '../api/owner/settings_pages.ts'
import { APPLE_ID, BUNDLE, outerPayload } from '../apple/samples.ts'
import { KEY } from '../config/keys.ts'
import { rowsOf, type TestApp } from '../helpers.ts'
import { openSoftAuthenticator } from './soft_authenticator.ts'

const OTHER = 'com.example.other'
const PASSWORD = { password: 'another good phrase' }

const SUBSCRIPTION = {
  endpoint: 'https://push.example.net/a',
  keys: {
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  },
}

/** A valid body for every owner route that reads one. */
const ROUTES: Record<string, object> = {
  '/api/v1/alerts/channels': { name: 'home', kind: 'json', settings: { url: 'https://8.8.8.8/alerts' } },
  '/api/v1/alerts/channels/:id': { name: 'renamed' },
  '/api/v1/alerts/devices': { name: 'phone', subscription: SUBSCRIPTION },
  '/api/v1/alerts/rules': { name: 'sales', template: 'sale' },
  '/api/v1/alerts/rules/:id': { name: 'renamed' },
  '/api/v1/alerts/rules/preview': { template: 'sale' },
  '/api/v1/alerts/settings': { quiet: null },
  '/api/v1/apple-keys/:kind': { private_key: KEY, key_id: 'ABCDE12345' },
  '/api/v1/apps': { bundle_id: 'com.example.new' },
  '/api/v1/endpoints': { url: 'https://8.8.8.8/hooks' },
  '/api/v1/endpoints/:id': { name: 'renamed' },
  '/api/v1/endpoints/:id/dismiss': {},
  '/api/v1/endpoints/:id/replay': { from_seq: 1 },
  '/api/v1/endpoints/:id/resume': { from: 'now' },
  '/api/v1/endpoints/:id/rotate': {},
  '/api/v1/endpoints/:id/test': { type: 'gap.found' },
  '/api/v1/keys': { kind: 'secret', label: 'backend' },
  '/api/v1/keys/:id/rotate': {},
  '/api/v1/organizations/:id': { time_zone: 'Europe/Berlin' },
  '/api/v1/passkeys': { name: 'Mac', passkey: openSoftAuthenticator().create({ challenge: 'AAAA' }) },
  '/api/v1/password': { ...PASSWORD, current_password: 'correct horse battery' },
  '/api/v1/pending/:bundle_id/connect': {},
  '/api/v1/reauth': PASSWORD,
  '/api/v1/second-factor': { code: '123456' },
  '/api/v1/share-links': { label: 'For the bank', basis: 'gross' },
  '/api/v1/system/checks': {},
  '/api/v1/test-notification': { app: BUNDLE, environment: 'sandbox' },
  '/api/v1/tokens': { label: 'laptop' },
  '/api/v1/vendor-numbers': { vendor_numbers: ['80012345'] },
  '/api/v1/widgets': { kind: 'widget', label: 'phone' },
}

/** Every table that these routes write, except sessions, which the test itself ends. */
const FORWARDING = ['endpoints', 'endpoint_secrets', 'replays', 'deliveries']
const ALERTS = ['alert_channels', 'alert_rules', 'settings', 'widget_tokens']
const ACCESS = [
  'api_tokens',
  'apple_keys',
  'apps',
  'authenticator',
  'recovery_codes',
  'passkeys',
  'audit_log',
  'owner',
  'sdk_keys',
  'share_links',
]
const TABLES = [...ACCESS, ...FORWARDING, ...ALERTS]
const written = ({ windfall }: TestApp) => TABLES.map((table) => rowsOf(windfall.store, table))

/** A body that ends only when `closeBody` is called. */
function slowBody(value: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  let closeBody = (): void => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 1))
      closeBody = () => {
        controller.enqueue(bytes.subarray(1))
        controller.close()
      }
    },
  })
  return { body, closeBody: () => closeBody() }
}

/** A paused endpoint whose address is not permitted, so that nothing connects to it. */
async function addPausedEndpoint({ windfall, organization }: TestApp): Promise<string> {
  const { store, forwarding } = windfall
  const named = {
    organization_id: organization.id,
    name: 'backend',
    kind: 'events',
    source: 'dashboard',
  } as const
  const all = {
    apps: null,
    environment: null,
    types: null,
    is_ordered: false,
    max_per_second: null,
    headers: {},
  }
  const url = 'https://127.0.0.1:1/hooks'
  return store.commit(() => {
    const { id } = forwarding.endpoints.create({ ...named, ...all, url }).endpoint
    forwarding.endpoints.pause(id)
    return id
  })
}

/** A channel, with the default rules. */
async function addChannel({ windfall: { store, alerts }, organization }: TestApp): Promise<string> {
  const channel = {
    organization_id: organization.id,
    name: 'phone',
    kind: 'json',
    settings: { url: 'https://127.0.0.1:1/alerts' },
    secrets: {},
    hides_amounts: false,
    digests: [],
    source: 'dashboard',
  }
  return store.commit(() => alerts.channelAdministration.add(channel).id)
}

/** The routes that change something that exists. */
const CHANGING = [
  '/api/v1/organizations/:id',
  '/api/v1/endpoints/:id',
  '/api/v1/alerts/channels/:id',
  '/api/v1/alerts/rules/:id',
  '/api/v1/alerts/settings',
]

/** A pending notification of another app, a secret key to rotate, and everything else that the bodies name. */
async function openWaiting() {
  const owned = await openSignedIn({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }] })
  const { app } = owned
  const data = { bundleId: OTHER, environment: 'Production', appAppleId: 77 }
  await app.notify(outerPayload({ data }, { notificationType: 'TEST', notificationUUID: 'waits' }))
  const { store, keys } = app.windfall
  const { id } = await store.commit(() => keys.create(app.organization.id, 'secret', 'old'))
  const endpoint_id = await addPausedEndpoint(app)
  const channel_id = await addChannel(app)
  const rule_id = app.windfall.alerts.rules.list()[0]?.id ?? ''
  const ids = { '/endpoints/': endpoint_id, '/channels/': channel_id, '/rules/': rule_id }
  const idOf = (path: string) => Object.entries(ids).find(([part]) => path.includes(part))?.[1] ?? id
  const addressOf = (path: string) =>
    path.replace(':id', idOf(path)).replace(':bundle_id', OTHER).replace(':kind', 'connect')
  return { ...owned, addressOf }
}

test('covers every owner route that reads a body', async () => {
  const { app } = await openSignedIn()
  const reading = app.windfall.http
    .routes()
    .filter(({ security, body }) => security?.join() === 'session' && body !== undefined)
    .map(({ path }) => path)
  expect(reading.sort()).toEqual(Object.keys(ROUTES))
})

/** Sends a request and runs `whileWaiting` after authentication and before the body ends. Returns the rows before and after. */
async function requestSlowly(path: string, whileWaiting: (app: TestApp) => unknown) {
  const { app, addressOf } = await openWaiting()
  const headers = { ...(await app.signIn()), 'content-type': 'application/json' }
  const before = written(app)
  const { body, closeBody } = slowBody(ROUTES[path] ?? {})
  const pending = app.request(addressOf(path), {
    method: CHANGING.includes(path) ? 'PATCH' : 'POST',
    headers,
    body,
    duplex: 'half',
  } as RequestInit)
  await new Promise((resolve) => setImmediate(resolve))
  await whileWaiting(app)
  closeBody()
  const answer = await pending
  const { code } = (await answer.json()) as { code?: string }
  await app.windfall.store.commit(() => {})
  return { outcome: [answer.status, code], before, after: written(app) }
}

test.each(Object.keys(ROUTES))(
  'writes nothing if the session ends while the body for %s arrives',
  async (path) => {
    const { outcome, before, after } = await requestSlowly(path, ({ windfall }) =>
      windfall.store.commit(() => windfall.sessions.endAll()),
    )
    expect(outcome).toEqual([401, 'sign_in_required'])
    expect(after).toEqual(before)
  },
)

const FRESH = ['keys', 'keys/:id/rotate', 'passkeys', 'second-factor', 'share-links', 'tokens']

test.each(FRESH.map((path) => `/api/v1/${path}`))(
  'requires a recent password when the body for %s has arrived',
  async (path) => {
    const { outcome, before, after } = await requestSlowly(path, ({ clock }) => clock.turn(15 * 60_000))
    expect(outcome).toEqual([403, 'reauthentication_required'])
    expect(after).toEqual(before)
  },
)
