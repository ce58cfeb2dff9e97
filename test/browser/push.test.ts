/** Web Push in a real browser: a device in two taps, its message decrypted and delivered, and the page that a tap opens. */
import { createECDH, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ece from 'http_ece'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock } from '../helpers.ts'
import { certificateFor, openReceiver } from '../outgoing/receiver.ts'
import { accessibilityViolations, hasNotifications, launchWithNotifications, visit } from './chromium.ts'
import { show } from './views.ts'

const keys = createECDH('prime256v1')
const P256DH = keys.generateKeys('base64url')
const AUTH = randomBytes(16).toString('base64url')

/** Stands in for the push service of the browser, which needs the internet. The subscription survives a reload. */
const subscribingAt = (endpoint: string): string => `
  const stored = () => JSON.parse(localStorage.getItem('test-subscription') ?? 'null')
  const subscriptionOf = ({ endpoint, key }) => ({
    endpoint,
    options: { applicationServerKey: Uint8Array.from(key).buffer },
    toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: '${P256DH}', auth: '${AUTH}' } }),
    unsubscribe: async () => { localStorage.removeItem('test-subscription'); return true },
  })
  PushManager.prototype.getSubscription = async () => stored() && subscriptionOf(stored())
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    const number = Number(localStorage.getItem('test-number') ?? 0) + 1
    localStorage.setItem('test-number', String(number))
    const made = { endpoint: '${endpoint}' + number, key: [...new Uint8Array(applicationServerKey)] }
    localStorage.setItem('test-subscription', JSON.stringify(made))
    return subscriptionOf(made)
  }`

/** A push service: the payloads that it received, decrypted with the keys of the browser. */
async function openPushService() {
  const { ca, secure } = certificateFor('localhost')
  const payloads: { path: string; text: string }[] = []
  const { port } = await openReceiver((socket, received) => {
    const [head = '', ...rest] = received.split('\r\n\r\n')
    const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1')
    if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return
    const text = ece.decrypt(body, { version: 'aes128gcm', privateKey: keys, authSecret: AUTH }).toString()
    payloads.push({ path: head.split(' ')[1] ?? '', text })
    socket.end('HTTP/1.1 201 Created\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
  }, secure)
  const file = join(temporaryFolder().path, 'ca.pem')
  writeFileSync(file, ca)
  return { payloads, file, endpoint: `https://localhost:${port}/` }
}

/** Delivers a push message to the service worker of a page. */
async function deliverPush(context: BrowserContext, page: Page, origin: string, data: string): Promise<void> {
  const devtools = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) =>
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [one] }) => {
      if (one) resolve(one.registrationId)
    }),
  )
  await devtools.send('ServiceWorker.enable')
  await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data })
}

describe.skipIf(!hasNotifications())('Web Push', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchWithNotifications()
  })
  afterAll(() => browser?.close())

  async function opened() {
    const service = await openPushService()
    const env = { WINDFALL_ALERTS_CONTACT: 'owner@example.com', WINDFALL_OUTBOUND_CA_FILE: service.file }
    const app = await openAlertingApp({ clock: handClock(Date.now()), env })
    const [phone] = app.alerts.channels.list()
    await app.windfall.store.commit(() => app.alerts.channels.remove(phone?.id ?? ''))
    const server = await listen(app.windfall.http, { port: 0, shutdown_ms: 100 })
    const base = server.url.replace('127.0.0.1', 'localhost')
    app.windfall.http.configure({ base_url: base })
    const { cookie } = await app.signIn()
    const { context, page, complaints } = await visit(browser, base, 'phone')
    await context.grantPermissions(['notifications'], { origin: base })
    await context.addCookies([{ name: 'windfall', value: cookie.split('=')[1] ?? '', url: base }])
    await page.addInitScript({ content: subscribingAt(service.endpoint) })
    onTestFinished(async () => {
      await context.close()
      await server.close()
    })
    return { ...service, app, base, context, page, complaints }
  }

  test('one tap adds the device; its message is shown, and a tap on it opens the customer', async () => {
    const { app, base, context, page, payloads, complaints } = await opened()
    await show(page, '/settings/alerts')
    await page.getByRole('button', { name: 'Send alerts to this device' }).click()
    await page.getByText('The provider accepted the message').waitFor()
    await page.getByText('· this device').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(JSON.parse(payloads[0]?.text ?? '')).toMatchObject({
      web_push: 8030,
      notification: { title: '🔔 Windfall can reach you', navigate: `${base}/settings/alerts` },
    })
    await purchase({ app })
    await app.settle(2_000)
    const sale = payloads.find(({ text }) => text.includes('Renewal'))?.text ?? ''
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    await deliverPush(context, page, base, sale)
    const shown = () =>
      page.evaluate<{ title: string; tag: string }[]>(`navigator.serviceWorker.ready
        .then((one) => one.getNotifications())
        .then((all) => all.map(({ title, tag }) => ({ title, tag })))`)
    await expect
      .poll(shown)
      .toEqual([{ title: '🔁 $4.99 · Renewal', tag: JSON.parse(sale).notification.tag }])
    // Another delivery with the same tag replaces the first.
    await deliverPush(context, page, base, sale.replace('Renewal', 'Repetition'))
    await expect
      .poll(async () => (await shown()).map(({ title }) => title))
      .toEqual(['🔁 $4.99 · Repetition'])

    const [worker] = context.serviceWorkers()
    // The event of a script may not focus a window; a tap may.
    await worker?.evaluate(`(async () => {
      WindowClient.prototype.focus = async function () { return this }
      const [notification] = await self.registration.getNotifications()
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })()`)
    await page.waitForURL(/\/customers\/cus_/)
    await expect.poll(shown).toEqual([])
    expect(complaints).toEqual([])
  })

  test('opening the page repairs a subscription that was lost, and keeps the device', async () => {
    const { app, page, endpoint, complaints } = await opened()
    await show(page, '/settings/alerts')
    await page.getByRole('button', { name: 'Send alerts to this device' }).click()
    await page.getByText('· this device').waitFor()
    const [before] = app.alerts.channels.list()
    await page.evaluate("localStorage.removeItem('test-subscription')")
    await page.reload()
    await expect
      .poll(() => app.alerts.channels.list()[0]?.settings.endpoint_hash)
      .not.toBe(before?.settings.endpoint_hash)
    const channels = app.alerts.channels.list()
    expect(channels.map(({ id }) => id)).toEqual([before?.id])
    const [channel] = channels
    if (!channel) throw new Error('the device is gone')
    expect(app.alerts.channels.secretsOf(channel)).toMatchObject({ endpoint: `${endpoint}2` })
    await page.getByText('· this device').waitFor()
    await page
      .getByRole('button', { name: /^Remove / })
      .first()
      .click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('button', { name: 'Send alerts to this device' }).waitFor()
    expect(await page.evaluate("localStorage.getItem('test-subscription')")).toBeNull()
    expect(complaints).toEqual([])
  })

  test('a service worker renews the device, and the page knows it again', async () => {
    const { app, context, page, endpoint, complaints } = await opened()
    await show(page, '/settings/alerts')
    await page.getByRole('button', { name: 'Send alerts to this device' }).click()
    await page.getByText('· this device').waitFor()
    const [before] = app.alerts.channels.list()
    const key = await page.evaluate<number[]>("JSON.parse(localStorage.getItem('test-subscription')).key")
    const subscription = (number: number): string => `({
      endpoint: '${endpoint}${number}',
      options: { applicationServerKey: Uint8Array.from(${JSON.stringify(key)}).buffer },
      toJSON() { return { endpoint: this.endpoint, keys: { p256dh: '${P256DH}', auth: '${AUTH}' } } },
    })`
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    await context.serviceWorkers()[0]?.evaluate(`(async () => {
      const event = new ExtendableEvent('pushsubscriptionchange')
      const work = []
      event.waitUntil = (one) => work.push(one)
      event.oldSubscription = ${subscription(1)}
      event.newSubscription = ${subscription(2)}
      self.dispatchEvent(event)
      await Promise.all(work)
    })()`)
    const [renewed] = app.alerts.channels.list()
    expect(renewed?.id).toBe(before?.id)
    expect(renewed && app.alerts.channels.secretsOf(renewed)).toMatchObject({ endpoint: `${endpoint}2` })
    const stored = JSON.stringify({ endpoint: `${endpoint}2`, key })
    await page.evaluate(`localStorage.setItem('test-subscription', ${JSON.stringify(stored)})`)
    // The list is shown before the page has found its subscription again.
    const listed = page.getByRole('button', { name: /^Remove / }).first()
    await page.route('**/api/v1/alerts/devices/key', async (route) => {
      await listed.waitFor()
      expect(await page.getByText('· this device').count()).toBe(0)
      await route.continue()
    })
    await page.reload()
    await page.getByText('· this device').waitFor()
    expect(app.alerts.channels.list()).toHaveLength(1)
    expect(await page.evaluate("localStorage.getItem('test-number')")).toBe('1')
    expect(complaints).toEqual([])
  })

  test('a device can serve two organizations, and keeps its subscription until the last one is removed', async () => {
    const { app, page, complaints } = await opened()
    const { store, organizations } = app.windfall
    const beside = { ...app.organization, slug: 'beta', name: 'Beta' }
    await store.commit(() => organizations.declare([app.organization, beside]))
    await show(page, '/settings/alerts')
    for (const name of [app.organization.name, 'Beta']) {
      await page.getByRole('button', { name: `Send alerts of ${name} to this device` }).click()
      await page.getByText(`· this device · ${name}`).waitFor()
    }
    const subscription = () => page.evaluate<string | null>("localStorage.getItem('test-subscription')")
    for (const isKept of [true, false]) {
      await page
        .getByRole('button', { name: /^Remove / })
        .first()
        .click()
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect((await subscription()) !== null).toBe(isKept)
    }
    expect(app.alerts.channels.list()).toEqual([])
    expect(complaints).toEqual([])
  })

  test('where notifications are not possible, the page says what to do, and names ntfy and Telegram', async () => {
    const { page, complaints } = await opened()
    await page.addInitScript(`
      const as = new URLSearchParams(location.search).get('as')
      if (as === 'blocked') Object.defineProperty(Notification, 'permission', { get: () => 'denied' })
      if (as === 'iphone') {
        delete window.PushManager
        Object.defineProperty(navigator, 'userAgent', { get: () => 'Mozilla/5.0 (iPhone) Version/18.5 Safari/604.1' })
      }`)
    for (const [as, words] of [
      ['iphone', 'tap Share, then Add to Home Screen'],
      ['blocked', 'Notifications of this site are blocked'],
    ]) {
      await show(page, `/settings/alerts?as=${as}`)
      const text = page.getByText(words ?? '')
      await text.waitFor()
      expect(await text.textContent()).toMatch(/ntfy or Telegram/)
      expect(await page.getByRole('button', { name: 'Send alerts to this device' }).count()).toBe(0)
    }
    expect(complaints).toEqual([])
  })
})
