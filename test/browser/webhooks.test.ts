/** Settings, Webhooks, in a real browser: an endpoint from its URL to its replays, with a real receiver. */
import { createHmac } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openHeldMark } from '../../src/store/held_mark.ts'
import { openForwardingApp, openHttpReceiver, type Received } from '../forwarding/receiving.ts'
import { handClock } from '../helpers.ts'
import { hasChromium, type Light, launch, type Size } from './chromium.ts'
import { assertSound, storePicture, visitAsOwner } from './owned.ts'
import { show } from './views.ts'

const HOUR_MS = 3_600_000
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** The signature that a receiver expects. */
function signatureOf({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

describe.skipIf(!hasChromium())('webhooks', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** A server with the owner signed in, and a receiver. The clock is the browser's, so that ages are right. */
  async function opened(size: Size = 'desktop', light: Light = 'light', env: Record<string, string> = {}) {
    const receiver = await openHttpReceiver()
    const app = await openForwardingApp({ clock: handClock(Date.now()), env })
    const { page, complaints } = await visitAsOwner(browser, app, size, light)
    await page.clock.install()
    return { receiver, app, page, complaints }
  }

  const button = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  /** Turns the page's clock to its next look at what is live. */
  const turnToNextLook = (page: Page) => page.clock.fastForward(2_000)
  const rows = (page: Page) => page.locator('.delivery')

  test('says until when a receiver asked to wait', async () => {
    const { receiver, app, page } = await opened()
    receiver.behave((_, response) => void response.writeHead(429, { 'retry-after': '600' }).end())
    const { id } = (await app.addEndpoint(receiver.url)).endpoint
    await app.append(1)
    await app.settled()
    await show(page, `/settings/webhooks/${id}`)
    await page.getByText(/The receiver asked to wait until .*\d/).waitFor()
  })

  test('adds an endpoint, shows its secret once, and sends a verified test event', async () => {
    const { receiver, page } = await opened()
    await show(page, '/settings/webhooks')
    await page.getByText('A webhook is a request that Windfall sends').waitFor()
    await button(page, 'Add endpoint').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('http://10.0.0.7/hooks')
    const submit = dialog.getByRole('button', { name: 'Add endpoint' })
    // Without scrolling.
    const { y = 0, height = 0 } = (await submit.boundingBox()) ?? {}
    expect(y + height).toBeLessThan(page.viewportSize()?.height ?? 0)
    await submit.click()
    await dialog.getByRole('alert').getByText('10.0.0.7 is a private address').waitFor()
    await dialog.locator('input:focus').and(dialog.getByLabel('URL')).waitFor()
    expect(await dialog.locator('.copy pre').textContent()).toBe(
      '[outbound]\nallow = ["127.0.0.1", "10.0.0.7/32:80"]',
    )
    await assertSound(page)
    await dialog.getByLabel('URL').fill(receiver.url)
    await dialog.getByLabel('Name (optional)').fill('backend')
    await dialog.getByRole('button', { name: 'Add endpoint' }).click()
    await page.getByRole('heading', { name: 'Signing secret' }).waitFor()
    const secret = (await page.locator('dialog .copy code').textContent()) ?? ''
    expect(secret).toMatch(/^whsec_[\w+/=]{32,}$/)
    await button(page, 'Done').click()
    await page.getByRole('heading', { name: 'backend', level: 1 }).waitFor()

    await button(page, 'Send test event').first().click()
    await dialog.getByRole('combobox').selectOption('trial.started')
    await button(page, 'Send').click()
    const result = page.getByRole('region', { name: 'Result' })
    await result.getByText('The receiver answered 200.').waitFor()
    expect(await result.getByRole('region', { name: 'Body' }).textContent()).toContain('"trial.started"')
    const [request] = receiver.requests
    if (!request) throw new Error('nothing arrived')
    expect(request.headers['webhook-signature']).toBe(signatureOf(request, secret))
    await assertSound(page)
    await page.keyboard.press('Escape')
    await rows(page).getByText('Test', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'backend', level: 1 }).waitFor()
    expect(await page.content()).not.toContain(secret)
  })

  test('logs deliveries as they are sent, and says why one failed', async () => {
    const { receiver, app, page, complaints } = await opened()
    const { endpoint } = await app.addEndpoint(receiver.url, { headers: { 'x-team': 'secret value' } })
    await show(page, `/settings/webhooks/${endpoint.id}`)
    await page.getByText('No deliveries yet').waitFor()
    receiver.behave(({ index }, response) => {
      if (index !== 0) return 200
      const date = new Date(app.clock() + 180_000).toUTCString()
      response.writeHead(400, { date }).end('no such user')
      return undefined
    })
    const [first, second] = await app.append(2)
    await app.settled()
    await turnToNextLook(page)
    await rows(page).nth(1).waitFor()
    await button(page, /^State:/).click()
    await page.getByRole('radio', { name: 'Waiting' }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    await rows(page).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The receiver answered 400.').waitFor()
    await dialog.getByText('no such user').waitFor()
    await dialog.getByText(/clock is 3 min ahead/).waitFor()
    const headers = await dialog.locator('.copy pre', { hasText: 'webhook-id' }).textContent()
    expect(headers).toContain(`webhook-id: ${first}`)
    expect(headers).toContain('x-team')
    expect(headers).not.toContain('secret value')
    expect(await dialog.getByRole('link', { name: String(first) }).getAttribute('href')).toContain('/events/')
    await assertSound(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await button(page, 'Clear').click()
    await page.getByLabel('Event id').fill(second ?? '')
    await expect.poll(() => rows(page).count()).toBe(1)
    await rows(page).first().click()
    await button(page, 'Replay this delivery').click()
    await dialog.getByText('It is sent again with the same id.').waitFor()
    await app.settled()
    await expect.poll(() => receiver.ids().filter((id) => id === second).length).toBe(2)
    expect(complaints).toEqual([])
  })

  test('pauses, resumes with what waited or from now, and replays with a preview', async () => {
    const { receiver, app, page, complaints } = await opened()
    const { endpoint } = await app.addEndpoint(receiver.url)
    await show(page, `/settings/webhooks/${endpoint.id}`)
    const dialog = page.getByRole('dialog')
    const pause = async () => {
      await button(page, 'Pause').click()
      await dialog.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('You paused this endpoint').waitFor()
    }
    const resume = async (choice: RegExp) => {
      await button(page, 'Resume').click()
      await dialog.getByRole('radio', { name: choice }).click()
      await dialog.getByRole('button', { name: 'Resume' }).click()
      await button(page, 'Pause').waitFor()
      await app.settled()
    }
    await pause()
    const sent = await app.append(2)
    await turnToNextLook(page)
    await page.getByText('2 events').waitFor()
    await assertSound(page)
    await resume(/Send what waited \(2 events, since/)
    expect(receiver.ids().sort()).toEqual(sent.toSorted())

    await pause()
    const skipped = await app.append(3)
    await resume(/Continue from now/)
    expect(receiver.ids()).toHaveLength(2)

    await button(page, 'Replay').click()
    await button(page, 'Seq range').click()
    await dialog.getByLabel('First seq').fill('1')
    await button(page, 'Preview').click()
    await dialog.getByText('5 events').waitFor()
    await assertSound(page)
    await button(page, 'Replay 5').click()
    await page.getByRole('heading', { name: 'Replays' }).waitFor()
    await app.settled()
    await turnToNextLook(page)
    await page.getByText('5 deliveries: 5 delivered, 0 waiting, 0 failed').waitFor()
    expect(new Set(receiver.ids())).toEqual(new Set([...sent, ...skipped]))

    receiver.behave(() => 400)
    await button(page, 'Replay').click()
    await button(page, 'Seq range').click()
    await dialog.getByLabel('First seq').fill('1')
    await button(page, 'Preview').click()
    await button(page, 'Replay 5').click()
    await app.settled()
    await turnToNextLook(page)
    await page.getByText('5 deliveries: 0 delivered, 5 waiting, 0 failed').waitFor()
    await button(page, 'Stop').click()
    await page.getByText('Stopped', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  test('retries a delivery and an endpoint, and replays or dismisses what was given up', async () => {
    const { receiver, app, page, complaints } = await opened()
    const { endpoint } = await app.addEndpoint(receiver.url)
    receiver.behave(() => 400)
    await app.append(2)
    await app.run(8 * HOUR_MS)
    await show(page, `/settings/webhooks/${endpoint.id}`)
    const dialog = page.getByRole('dialog')
    const sent = receiver.requests.length
    await button(page, 'Retry now').click()
    await dialog.getByRole('button', { name: 'Retry now' }).click()
    await dialog.waitFor({ state: 'detached' })
    await app.settled()
    expect(receiver.requests).toHaveLength(sent + 2)
    await rows(page).first().click()
    await dialog.getByRole('button', { name: 'Retry now' }).click()
    await expect.poll(() => receiver.requests.length).toBe(sent + 3)
    await app.settled()
    await page.keyboard.press('Escape')
    await app.run(95 * HOUR_MS)
    await turnToNextLook(page)
    await page.getByText('The receiver does not have 2 events').waitFor()
    await assertSound(page)
    await button(page, 'Replay all that failed').click()
    await page.getByText('The receiver does not have').waitFor({ state: 'detached' })
    await app.run(95 * HOUR_MS)
    await turnToNextLook(page)
    await button(page, 'Dismiss').click()
    await dialog.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('The receiver does not have').waitFor({ state: 'detached' })
    expect(app.rows(endpoint.id).map(({ loss }) => loss)).toEqual([null, null, 'dismissed', 'dismissed'])
    expect(complaints).toEqual([])
  })

  test('offers a failing endpoint a retry first, which uses up no attempt, and no resuming', async () => {
    const { receiver, app, page, complaints } = await opened('phone')
    const { endpoint } = await app.addEndpoint(receiver.url)
    receiver.behave(() => 500)
    await app.append(7)
    await app.run(60_000)
    await show(page, `/settings/webhooks/${endpoint.id}`)
    await page.getByText('The receiver does not respond with success').waitFor()
    expect(await page.locator('.button.main').allTextContents()).toEqual([' Retry now'])
    expect(await button(page, 'Resume').count()).toBe(0)
    await page.getByText('Next attempt', { exact: true }).waitFor()
    await button(page, 'Retry now').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('One of the waiting events is tried now').waitFor()
    await assertSound(page)
    await storePicture(page, 'webhook-retry')
    const failures = () => app.rows(endpoint.id).map((row) => row.failures)
    const before = failures()
    const sent = receiver.requests.length
    await dialog.getByRole('button', { name: 'Retry now' }).click()
    await expect.poll(() => receiver.requests.length).toBe(sent + 1)
    await app.settled()
    expect(failures()).toEqual(before)
    expect(complaints).toEqual([])
  })

  test.each(['desktop', 'phone'] as const)(
    'says once on a %s what a refusing receiver needs, on a page of a moderate length',
    async (size) => {
      const { receiver, app, page } = await opened(size)
      const { endpoint } = await app.addEndpoint(receiver.url)
      await app.append(5)
      await app.settled()
      receiver.behave(() => 400)
      await app.append(30)
      await app.run(100 * HOUR_MS)
      await show(page, `/settings/webhooks/${endpoint.id}`)
      await page.getByText('Fewer than 90 % of the attempts succeed').waitFor()
      expect(await page.locator('.notice').count()).toBe(1)
      expect(await rows(page).count()).toBe(size === 'phone' ? 10 : 25)
      expect(await page.getByText('Code for the receiver').isVisible()).toBe(true)
      expect(await page.getByText('standardwebhooks').first().isVisible()).toBe(false)
      const height = await page.evaluate<number>('document.documentElement.scrollHeight')
      expect(height).toBeLessThan(3_000)
      await assertSound(page)
      await storePicture(page, `webhook-refused-${size}`)
      await button(page, 'Dismiss').click()
      await page.getByRole('dialog').getByText('The log keeps them').waitFor()
      await assertSound(page)
      await storePicture(page, `webhook-dismiss-${size}`)
    },
  )

  test('links from *Today* to the page of a failing webhook, in place of a command', async () => {
    const { receiver, app, page } = await opened()
    const { endpoint } = await app.addEndpoint(receiver.url, { name: 'backend' })
    receiver.behave(() => 500)
    await app.append(7)
    await app.run(60_000)
    await show(page, '/today')
    expect(new URL(page.url()).pathname).toBe('/')
    const finding = page.locator('.system-row', { hasText: 'A webhook is failing' })
    await finding.getByText(/^backend is failing since/).waitFor()
    expect(await finding.getByText('windfall webhooks list').count()).toBe(0)
    await finding.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { name: endpoint.name, level: 1 }).waitFor()
  })

  test('changes, rotates and deletes an endpoint', async () => {
    const { receiver, app, page, complaints } = await opened()
    const { endpoint } = await app.addEndpoint(receiver.url, { headers: { 'x-team': 'a' } })
    await show(page, '/settings/webhooks')
    await page.getByRole('link', { name: endpoint.name }).click()
    await button(page, 'Edit').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Their values are not shown').waitFor()
    await dialog.getByRole('button', { name: 'Choose' }).click()
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: /^Types/ }).click()
    await page.getByRole('checkbox', { name: 'Trial started' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.locator('.facts').getByText('Trial started').waitFor()
    expect(app.endpoint(endpoint.id)).toMatchObject({ types: ['trial.started'], header_names: ['x-team'] })

    await button(page, 'Rotate').click()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('heading', { name: 'New signing secret' }).waitFor()
    await button(page, 'Done').click()
    expect(await page.getByText('whsec_…').count()).toBe(2)

    await button(page, 'Delete').click()
    await dialog.getByText('Nothing waits for it.').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No endpoints yet').waitFor()
    expect(complaints).toEqual([])
  })

  test('fits a phone, shows a declared endpoint without changes to it, and verification code', async () => {
    const declared = `[{ name = "backend", url = "https://api.example.com/webhooks/windfall/of/the/backend", secrets = ["${SECRET}"] }]`
    const { app, page, complaints } = await opened('phone', 'dark', { WINDFALL_ENDPOINTS: declared })
    await app.append(1)
    await show(page, '/settings/webhooks')
    await page.getByText('declared in config.toml').waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'backend' }).click()
    await page.getByText('Change or remove it there').waitFor()
    for (const name of ['Edit', 'Delete', 'Rotate']) expect(await button(page, name).count()).toBe(0)
    for (const [language, line] of [
      ['PHP', 'hash_equals'],
      ['Swift', 'isValidAuthenticationCode'],
      ['Go', 'standardwebhooks.NewWebhook'],
    ] as const) {
      await button(page, language).click()
      await page.locator('.copy pre', { hasText: line }).waitFor()
    }
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test('offers for Apple’s notifications what applies to them', async () => {
    const { receiver, app, page, complaints } = await opened('phone')
    const { endpoint } = await app.addEndpoint(receiver.url, { kind: 'apple' })
    await show(page, `/settings/webhooks/${endpoint.id}`)
    await page.getByText('request a test notification').waitFor()
    expect(await button(page, 'Send test event').count()).toBe(0)
    expect(await page.locator('.copy pre').textContent()).toContain("headers['windfall-signature']")
    await button(page, 'Replay').click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Seq range' }).count()).toBe(0)
    await dialog.getByLabel('From').fill('2026-01-01T00:00')
    await button(page, 'Preview').click()
    await dialog.getByText('Nothing matches.').waitFor()
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test('says on every page that outgoing requests are held, to the owner only', async () => {
    const { app, page } = await opened()
    const { store } = app.windfall
    await store.commit(() => openHeldMark(store).set({ reason: 'restored', at: app.clock() }))
    await show(page, '/revenue')
    await page.getByText('Outgoing requests are held: the database was restored').waitFor()
    await page.getByText('npm run -s windfall -- outgoing resume').waitFor()
    await assertSound(page)
    const { id } = await store.commit(() =>
      app.windfall.links.create({
        organization_id: null,
        apps: null,
        label: 'guest',
        basis: 'gross',
        metrics: null,
        expires_at: null,
        passcode: null,
      }),
    )
    const { cookie } = await app.signIn(id)
    await page
      .context()
      .addCookies([{ name: 'windfall', value: cookie.split('=')[1] ?? '', url: new URL(page.url()).origin }])
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await show(page, '/revenue')
    await page.getByText('Viewing a shared dashboard').waitFor()
    expect(asked.filter((url) => url.includes('/endpoints'))).toEqual([])
    expect(await page.getByText('Outgoing requests are held').count()).toBe(0)
  })
})
