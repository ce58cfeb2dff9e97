/** Devices: added and renewed by the device itself, through the API. */
import { createECDH, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashOf } from '../../../src/alerts/channels/web_push/web_push.ts'
import { temporaryFolder } from '../../folders.ts'
import { certificateFor, openReceiver } from '../../outgoing/receiver.ts'
import { openAlertingApp, purchase } from '../alerting.ts'

const subscription = (endpoint: string) => ({
  endpoint,
  expirationTime: null,
  keys: {
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  },
})
const FIRST = 'https://push.example.net/first'
const SECOND = 'https://push.example.net/second'

async function openOwned(env: Record<string, string> = { WINDFALL_ALERTS_CONTACT: 'owner@example.com' }) {
  const app = await openAlertingApp({ env })
  const headers = await app.signIn()
  const call = (path: string, body: object = {}) => app.post(`/api/v1/${path}`, body, headers)
  /** Renews as a service worker does, without a session. Returns the status. */
  const renew = async (body: object): Promise<number> =>
    (
      await app.request('/api/v1/push/renew', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status
  const devices = () => app.alerts.channels.list().filter(({ kind }) => kind === 'web_push')
  return Object.assign(app, { call, renew, devices })
}

test('the key pair is made once and survives a restart; its private half is sealed', async () => {
  const { call, windfall, alerts } = await openOwned()
  const { body } = await call('alerts/devices/key')
  expect(Buffer.from(String(body.public_key), 'base64url')).toHaveLength(65)
  expect((await call('alerts/devices/key')).body).toEqual(body)
  expect(alerts.publicKey()).toBe(body.public_key)
  const stored = windfall.store
    .prepare<[], { value: string }>("select value from settings where key = 'vapid'")
    .get()
  expect(JSON.parse(stored?.value ?? '')).toEqual({
    public_key: body.public_key,
    sealed: expect.stringMatching(/^v1\./),
  })
})

test('without a contact and an https address no device can be added, and the answer says what to do', async () => {
  const { call } = await openOwned({})
  expect(await call('alerts/devices/key')).toMatchObject({
    status: 409,
    body: { code: 'contact_needed', detail: expect.stringContaining('contact = "you@example.com"') },
  })
})

test('a device adds itself once, is listed without its secrets, and keeps its id when its endpoint changes', async () => {
  const app = await openOwned()
  const device = { name: 'Phone', subscription: subscription(FIRST) }
  const added = await app.call('alerts/devices', device)
  expect(added).toMatchObject({
    status: 200,
    body: {
      name: 'Phone',
      kind: 'web_push',
      address: 'push.example.net',
      settings: { host: 'push.example.net', endpoint_hash: hashOf(FIRST) },
    },
  })
  expect(JSON.stringify(added.body)).not.toContain(device.subscription.keys.auth)
  expect((await app.call('alerts/devices', device)).body.id).toBe(added.body.id)
  const moved = { name: 'x', subscription: subscription(SECOND), replaces: hashOf(FIRST) }
  expect((await app.call('alerts/devices', moved)).body).toMatchObject({ id: added.body.id, name: 'Phone' })
  const other = await app.call('alerts/devices', { name: 'Phone', subscription: subscription(FIRST) })
  expect(other.body.name).toBe('Phone 2')
  expect(app.devices()).toHaveLength(2)
})

test('a service worker renews with the secret of the old endpoint, once', async () => {
  const app = await openOwned()
  const old = subscription(FIRST)
  const { body } = await app.call('alerts/devices', { name: 'Phone', subscription: old })
  const renewal = { endpoint: FIRST, auth: old.keys.auth, subscription: subscription(SECOND) }
  const wrong = { ...renewal, auth: randomBytes(16).toString('base64url') }
  expect(await app.renew(wrong)).toBe(404)
  expect(await app.renew(renewal)).toBe(204)
  expect(app.devices()).toMatchObject([{ id: body.id, settings: { endpoint_hash: hashOf(SECOND) } }])
  const [noted] = app.windfall.audit.list(null, 1)
  expect(noted).toMatchObject({ actor: body.id, action: 'device.renewed', detail: 'Phone' })
  expect(await app.renew(renewal)).toBe(404)
  for (let call = 0; call < 27; call += 1) await app.renew(renewal)
  expect(await app.renew(renewal)).toBe(429)
})

test('refuses subscriptions that are not https or have broken keys, and stores nothing', async () => {
  const app = await openOwned()
  const good = subscription(FIRST)
  for (const broken of [
    { ...good, endpoint: 'http://push.example.net/a' },
    { ...good, keys: { ...good.keys, auth: 'short' } },
    { ...good, keys: { ...good.keys, p256dh: 'AAAA' } },
    { ...good, keys: { ...good.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } },
  ])
    expect(await app.call('alerts/devices', { name: 'Phone', subscription: broken })).toMatchObject({
      status: 400,
    })
  expect(await app.call('alerts/channels', { name: 'a', kind: 'web_push', settings: {} })).toMatchObject({
    status: 400,
  })
  expect(app.devices()).toEqual([])
})

test('a browser is a device of each organization, and one renewal serves them; a device that is off stays off', async () => {
  const app = await openOwned()
  const { organizations, store } = app.windfall
  const beside = { ...app.organization, slug: 'beta', name: 'Beta' }
  await store.commit(() => organizations.declare([app.organization, beside]))
  const beta = String(organizations.findBySlug('beta')?.id)
  const old = subscription(FIRST)
  for (const organization_id of [app.organization.id, beta])
    await app.call('alerts/devices', { organization_id, name: 'Phone', subscription: old })
  const [first, second] = app.devices()
  expect([first?.organization_id, second?.organization_id]).toEqual([app.organization.id, beta])
  await store.commit(() => app.alerts.channelAdministration.change(first?.id ?? '', { state: 'disabled' }))
  const renewal = { endpoint: FIRST, auth: old.keys.auth, subscription: subscription(SECOND) }
  expect(await app.renew(renewal)).toBe(204)
  const settings = { endpoint_hash: hashOf(SECOND) }
  expect(app.devices()).toMatchObject([
    { id: first?.id, state: 'disabled', settings },
    { id: second?.id, state: 'active', settings },
  ])
})

/**
 * A Windfall with one device, whose endpoint answers 410, after `before`; the endpoint /next accepts. `paths` are those
 * of the requests.
 */
async function openGone(before = async (): Promise<unknown> => null) {
  const { ca, secure } = certificateFor('localhost')
  const paths: string[] = []
  const receiver = await openReceiver((socket, received) => {
    const [head = ''] = received.split('\r\n\r\n', 2)
    if (received.length < head.length + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 1)) return
    const [, path = ''] = head.split(' ')
    paths.push(path)
    const status = path === '/next' ? '201 Created' : '410 Gone'
    void before().then(() =>
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
    )
  }, secure)
  const { path } = temporaryFolder()
  writeFileSync(join(path, 'ca.pem'), ca)
  const app = await openOwned({
    WINDFALL_ALERTS_CONTACT: 'owner@example.com',
    WINDFALL_OUTBOUND_CA_FILE: join(path, 'ca.pem'),
  })
  await app.call('alerts/devices/key')
  const base = `https://localhost:${receiver.port}`
  const first = subscription(`${base}/first`)
  const { body } = await app.call('alerts/devices', { name: 'Phone', subscription: first })
  const id = String(body.id)
  /** The newest send to the device. The first device brought the default rules. */
  const lastSend = () =>
    app.alerts.history
      .list({ organization_id: null, before: null, limit: 10 })
      .flatMap(({ sends }) => sends)
      .find(({ channel_id }) => channel_id === id)
  return { app, first, id, paths, base, lastSend }
}

test('a device that unsubscribed is removed, and its message says so', async () => {
  const { app, lastSend } = await openGone()
  await purchase({ app })
  await app.settle(2_000)
  expect(app.devices()).toEqual([])
  const words = 'The device no longer accepts messages, and was removed.'
  expect(lastSend()).toMatchObject({ channel_name: 'Phone', state: 'failed', words })
})

test('a test message removes a device that unsubscribed', async () => {
  const { app, id } = await openGone()
  expect((await app.call(`alerts/channels/${id}/test`)).body).toMatchObject({ result: 'gone' })
  expect(app.devices()).toEqual([])
})

test('a device that renews itself while its old endpoint answers stays, and gets the message', async () => {
  const renewal: { run: () => Promise<unknown> } = { run: async () => null }
  const { app, first, id, paths, base, lastSend } = await openGone(() => renewal.run())
  const next = { endpoint: first.endpoint, auth: first.keys.auth, subscription: subscription(`${base}/next`) }
  renewal.run = () => app.renew(next)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.devices()).toMatchObject([{ id, settings: { endpoint_hash: hashOf(`${base}/next`) } }])
  expect(paths).toEqual(['/first', '/next'])
  expect(lastSend()).toMatchObject({ channel_name: 'Phone', state: 'sent' })
})

test('the other channels hear once that a device was removed', async () => {
  const { app } = await openGone()
  await app.channel('off', { state: 'disabled' })
  await purchase({ app })
  await app.settle(2_000)
  await app.settle(1_000)
  const about = app.got().filter(({ title }) => title.startsWith('📵'))
  expect(about).toMatchObject([
    {
      title: '📵 Phone gets no more alerts',
      body: expect.stringContaining('tap “Send alerts to this device”'),
      url: expect.stringContaining('/settings/alerts'),
      urgency: 'normal',
    },
  ])
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got().filter(({ title }) => title.startsWith('📵'))).toHaveLength(1)
})

test('a device that was the only channel leaves a finding with the number of rules', async () => {
  const { app } = await openGone()
  const phone = app.alerts.channels.list().find(({ name }) => name === 'phone')
  await app.windfall.store.commit(() => app.alerts.channels.remove(phone?.id ?? ''))
  expect(app.alerts.findings()).toEqual([])
  await purchase({ app })
  await app.settle(2_000)
  expect(app.alerts.channels.list()).toEqual([])
  expect(app.alerts.findings()).toMatchObject([
    {
      state: 'warning',
      text: '8 rules are on, but there is no channel, so nobody gets their messages.',
      details: { title: 'No channel is left for alerts', organization_id: app.organization.id },
    },
  ])
})
