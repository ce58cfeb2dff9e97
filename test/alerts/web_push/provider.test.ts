/** The request of Web Push, read by independent implementations, and the answers of a push service. */
import { createECDH, createPublicKey, type ECDH, randomBytes } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import ece from 'http_ece'
import { jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import type { ChannelMessage, SendContext } from '../../../src/alerts/channels/channel.ts'
import { openVapid } from '../../../src/alerts/channels/web_push/vapid.ts'
import { fieldsOf, webPush } from '../../../src/alerts/channels/web_push/web_push.ts'
import { openTestApp } from '../../helpers.ts'
import { certificateFor, dispatcherWith, openReceiver, resolverOf } from '../../outgoing/receiver.ts'

const HOST = 'push.example.net'
const MESSAGE: ChannelMessage = {
  id: 'alm_1',
  tag: 'alr_1/sale/2000000900000001',
  title: '🎉 €49.99 · Chord Pro',
  body: 'Renewal · 🇩🇪 Germany',
  url: 'https://windfall.example.com/customers/cus_1',
  urgency: 'normal',
  is_payment: false,
  at: Date.UTC(2026, 5, 1, 12),
  badge: 2,
  fields: [],
}

/** The keys of a browser. */
function openBrowser(): { ecdh: ECDH; auth: Buffer; keys: { p256dh: string; auth: string } } {
  const ecdh = createECDH('prime256v1')
  const p256dh = ecdh.generateKeys('base64url')
  const auth = randomBytes(16)
  return { ecdh, auth, keys: { p256dh, auth: auth.toString('base64url') } }
}

/** A push service that answers with a status, and what it received. */
async function openService(statuses: number[]) {
  const { ca, secure } = certificateFor(HOST)
  const requests: { head: string; body: Buffer }[] = []
  const receiver = await openReceiver((socket, received) => {
    const [head = '', ...rest] = received.split('\r\n\r\n')
    const body = rest.join('\r\n\r\n')
    if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return
    requests.push({ head, body: Buffer.from(body, 'latin1') })
    const status = statuses.shift() ?? 201
    const extra = status === 429 ? 'retry-after: 7\r\n' : ''
    ;(socket as TLSSocket).end(
      `HTTP/1.1 ${status} X\r\nconnection: close\r\n${extra}content-length: 0\r\n\r\n`,
    )
  }, secure)
  const dispatcher = dispatcherWith({ allow: ['127.0.0.1'], ca, resolve: resolverOf(['127.0.0.1']) })
  return { requests, dispatcher, endpoint: `https://${HOST}:${receiver.port}/send/abc` }
}

async function openSender(statuses: number[]) {
  const app = await openTestApp()
  const settings: { contact: string | null; hosts: string[] } = { contact: 'owner@example.com', hosts: [] }
  const { store, outgoing } = app.windfall
  const reopened = () =>
    openVapid({
      store,
      secrets: outgoing.secrets,
      contact: () => settings.contact,
      baseUrl: () => 'http://127.0.0.1',
      hosts: () => settings.hosts,
    })
  const vapid = reopened()
  const public_key = await store.commit(() => vapid.publicKey())
  const service = await openService(statuses)
  const browser = openBrowser()
  settings.hosts.push(new URL(service.endpoint).host)
  const channel = fieldsOf({ endpoint: service.endpoint, keys: browser.keys })
  const context: SendContext = {
    dispatcher: service.dispatcher,
    signal: new AbortController().signal,
    vapid,
    mute_url: null,
  }
  const send = (message: Partial<ChannelMessage> = {}) =>
    webPush.send({ ...MESSAGE, ...message }, channel, context)
  const decrypted = (index: number) =>
    JSON.parse(
      ece
        .decrypt(service.requests[index]?.body ?? Buffer.of(), {
          version: 'aes128gcm',
          privateKey: browser.ecdh,
          authSecret: browser.auth.toString('base64url'),
        })
        .toString(),
    )
  return { ...service, settings, vapid, reopened, public_key, send, decrypted }
}

test.each(['first', 'second'])('the %s browser decrypts the payload, and the token verifies', async () => {
  const { requests, endpoint, public_key, send, decrypted } = await openSender([])
  expect(await send()).toEqual({ kind: 'sent' })
  const payload = decrypted(0)
  expect(payload).toMatchObject({
    web_push: 8030,
    notification: { title: MESSAGE.title, body: MESSAGE.body, navigate: MESSAGE.url },
    app_badge: 2,
  })
  const { head } = requests[0] ?? { head: '' }
  expect(head).toMatch(/^POST \/send\/abc HTTP/)
  expect(head).toMatch(/ttl: 14400\r/i)
  expect(head).toMatch(/urgency: normal\r/i)
  const [, topic] = /topic: (\S+)/i.exec(head) ?? []
  expect(topic).toMatch(/^[0-9a-f]{32}$/)
  expect(payload.notification.tag).toBe(topic)
  const [, token = '', key] = /authorization: vapid t=(\S+), k=(\S+)/i.exec(head) ?? []
  expect(key).toBe(public_key)
  const point = Buffer.from(public_key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const jwk = { kty: 'EC', crv: 'P-256', x, y }
  const { payload: claims } = await jwtVerify(token, createPublicKey({ key: jwk as never, format: 'jwk' }))
  expect(claims).toMatchObject({ aud: new URL(endpoint).origin, sub: 'mailto:owner@example.com' })
  expect(Number(claims.exp) - Date.now() / 1_000).toBeLessThan(24 * 3_600)
})

test('trouble is urgent and kept for a day; a long text is cut, and cut again after 413', async () => {
  const { requests, send, decrypted } = await openSender([413, 201])
  expect(await send({ urgency: 'trouble', body: 'é'.repeat(9_000) })).toEqual({ kind: 'sent' })
  expect(requests[0]?.head).toMatch(/ttl: 86400\r[\s\S]*urgency: high\r/i)
  expect(JSON.stringify(decrypted(0)).length).toBeGreaterThan(1_000)
  expect(Buffer.byteLength(decrypted(1).notification.body)).toBeLessThanOrEqual(200)
  for (const { body } of requests) expect(body.length).toBeLessThanOrEqual(4_096)
})

test('each answer of a push service has its own result, and 403 is a finding until one is accepted', async () => {
  const { send, vapid, reopened, settings } = await openSender([404, 410, 403, 429, 413, 413, 500, 201])
  expect(await send()).toMatchObject({ kind: 'gone' })
  expect(await send()).toMatchObject({ kind: 'gone' })
  expect(await send()).toMatchObject({ kind: 'retry', words: expect.stringContaining('answered 403') })
  expect(vapid.findings()).toMatchObject([{ state: 'warning', text: expect.stringContaining('contact') }])
  expect(reopened().findings(), 'after a restart').toEqual(vapid.findings())
  const [host = ''] = settings.hosts.splice(0)
  expect(vapid.findings(), 'the last device of the push service was removed').toEqual([])
  settings.hosts.push(host)
  expect(await send()).toMatchObject({ kind: 'retry', after_ms: 7_000 })
  expect(await send()).toMatchObject({ kind: 'refused', words: expect.stringContaining('too large') })
  expect(await send()).toMatchObject({ kind: 'retry', after_ms: null })
  expect(await send()).toEqual({ kind: 'sent' })
  expect(vapid.findings()).toEqual([])
  expect(reopened().findings()).toEqual([])
})

test('without a contact, the message and the finding say what to set', async () => {
  const { requests, send, vapid, settings } = await openSender([])
  settings.contact = null
  const text = expect.stringContaining('set contact = "you@example.com" under [alerts]')
  expect(await send()).toEqual({ kind: 'retry', words: text, after_ms: null })
  expect(vapid.findings()).toMatchObject([{ state: 'warning', text }])
  expect(requests).toEqual([])
  settings.hosts.splice(0)
  expect(vapid.findings()).toEqual([])
})
