/** Settings, Alerts, in a real browser: from the first channel to the first message, on a phone. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
import { handClock } from '../helpers.ts'
import { hasChromium, type Light, launch, type Size } from './chromium.ts'
import { assertSound, visitAsOwner } from './owned.ts'
import { show } from './views.ts'

describe.skipIf(!hasChromium())('alerts', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** A server with the owner signed in, a receiver, and no channel yet. */
  async function opened(size: Size, light: Light = 'light') {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    const [phone] = app.alerts.channels.list()
    await app.windfall.store.commit(() => app.alerts.channels.remove(phone?.id ?? ''))
    const { page, complaints } = await visitAsOwner(browser, app, size, light)
    await page.clock.install()
    return { app, page, complaints }
  }

  test('on a phone, three taps and a URL lead from the empty page to the first message', async () => {
    const { app, page, complaints } = await opened('phone')
    await show(page, '/settings/alerts')
    let taps = 0
    const tap = async (name: string | RegExp) => {
      taps += 1
      await page
        .getByRole('button', { name, exact: typeof name === 'string' })
        .first()
        .click()
    }
    await page.getByText('No channels yet').waitFor()
    await assertSound(page)
    await tap('Add channel')
    await assertSound(page)
    await page.getByRole('button', { name: /^ntfy/ }).click()
    expect(await page.getByLabel('Topic').inputValue()).toMatch(/^windfall-[a-hjkmnp-z2-9]{12}$/)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Add channel' }).first().click()
    await tap(/^JSON/)
    await page.getByLabel('URL').fill(`${app.receiver.url}/tapped`)
    await tap('Add and send a test')
    await page.getByText('The provider accepted the message').waitFor()
    expect(taps).toBe(3)
    expect(app.got('tapped')).toMatchObject([{ title: '🔔 Windfall can reach you' }])
    await page.getByText('Every sale', { exact: true }).waitFor()
    await purchase({ app })
    await app.settle(2_000)
    expect(app.got('tapped')).toHaveLength(2)
    // The history follows by itself.
    await page.clock.fastForward(10_000)
    await page.getByText('🔁 $4.99 · Renewal').waitFor()
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test('edits a rule with its preview, mutes, and shows why a channel does not work', async () => {
    const { app, page, complaints } = await opened('desktop', 'dark')
    const channel = await app.channel('home')
    await app.rule('sale', {}, { name: 'Sales' })
    await purchase({ app })
    await app.settle(2_000)
    await show(page, '/settings/alerts')
    await page.getByRole('button', { name: 'Edit Sales' }).click()
    const dialog = page.getByRole('dialog')
    await page.clock.fastForward(1_000)
    await dialog.getByText('would have sent 1 message').waitFor()
    await assertSound(page)
    await dialog.getByLabel('Minimum amount in your currency').fill('50')
    await page.clock.fastForward(1_000)
    await dialog.getByText('this rule would have sent nothing').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('from 50', { exact: true }).waitFor()
    expect(app.alerts.rules.list()[0]?.settings.minimum_milli).toBe(50_000)

    await page.getByRole('button', { name: 'Until tomorrow' }).click()
    await page.getByText(/^Muted until/).waitFor()
    await page.getByRole('button', { name: 'Unmute' }).click()
    await page.getByRole('button', { name: 'For 1 hour' }).waitFor()

    await app.windfall.store.commit(() =>
      app.alerts.channels.setState(channel, 'dead', 'home answered 410: the topic is gone.'),
    )
    await page.clock.fastForward(10_000)
    await page.getByText('the topic is gone').first().waitFor()
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test('the button of ntfy works from a page of another site, and the dashboard shows and ends the mute', async () => {
    const { app, page, complaints } = await opened('phone')
    const { http } = app.windfall
    const url = http.baseUrl() ?? ''
    const site = new URL(app.receiver.url).origin
    await app.channel('ntfy', { kind: 'ntfy', settings: { server: site, topic: 'sales' } })
    await app.rule('sale')
    http.configure({ base_url: 'http://windfall.example' })
    await purchase({ app })
    await app.settle(2_000)
    http.configure({ base_url: url })
    const { actions } = JSON.parse(app.receiver.requests.at(-1)?.body ?? '{}')
    const target = `${url}${new URL(actions[0].url).pathname}`
    await show(page, '/settings/alerts')
    await page.getByRole('button', { name: 'For 1 hour' }).waitFor()

    const webApp = await browser.newPage()
    await webApp.goto(site)
    /** A header that is not simple makes the browser ask first. */
    const pressWith = (headers: Record<string, string>) =>
      webApp.evaluate(
        ([address, sent]) => fetch(address, { method: 'POST', headers: sent }).then(({ status }) => status),
        [target, headers] as const,
      )
    expect(await pressWith({})).toBe(200)
    expect(await pressWith({ 'content-type': 'application/json' })).toBe(200)
    await page.clock.fastForward(10_000)
    await page.getByText(/^Muted until/).waitFor()
    await page.getByRole('button', { name: 'Unmute' }).click()
    await page.getByRole('button', { name: 'For 1 hour' }).waitFor()
    expect(await pressWith({})).toBe(410)
    await webApp.close()
    expect(complaints).toEqual([])
  })

  test('the bell counts findings until they were read, and again when one returns', async () => {
    const { app, page, complaints } = await opened('desktop')
    const channel = await app.channel('home')
    const setState = (state: 'dead' | 'active') =>
      app.windfall.store.commit(() => app.alerts.channels.setState(channel, state, 'The topic is gone.'))
    await setState('dead')
    await show(page, '/customers')
    const count = page.locator('.side .bell-count')
    const shown = Number(await count.textContent())
    expect(shown).toBeGreaterThan(0)
    await page
      .getByRole('button', { name: /unread finding/ })
      .first()
      .click()
    const list = page.getByRole('dialog')
    await list.getByText('Alerts do not reach home').waitFor()
    await assertSound(page)
    await count.waitFor({ state: 'detached' })
    // The next read of the status is due half a minute after this one.
    const isStatus = /\/api\/v1\/(?:status$|batch\?.*\bstatus\b)/
    await Promise.all([page.waitForResponse(isStatus), page.reload()])
    await page.getByRole('button', { name: 'Alerts', exact: true }).first().waitFor()
    expect(await count.count()).toBe(0)
    await setState('active')
    app.clock.turn(60_000)
    await setState('dead')
    await page.clock.fastForward(30_000)
    await count.getByText('1', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })
})
