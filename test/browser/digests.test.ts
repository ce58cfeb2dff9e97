import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
import { handClock } from '../helpers.ts'
import { hasChromium, launch, visit } from './chromium.ts'
import { assertSound, storePicture } from './owned.ts'
import { show } from './views.ts'

const DAY = 86_400_000
const env = {
  WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "Europe/Berlin", currency = "JPY" }]',
}

describe.skipIf(!hasChromium())('digests', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function opened() {
    const app = await openAlertingApp({ clock: handClock(Date.parse('2026-06-01T06:30Z')), env })
    const server = await listen(app.windfall.http, { port: 0, shutdown_ms: 100 })
    app.windfall.http.configure({ base_url: server.url })
    const { context, page, complaints } = await visit(browser, server.url, 'phone', 'dark')
    const signIn = async (): Promise<void> => {
      const { cookie } = await app.signIn()
      await context.addCookies([{ name: 'windfall', value: cookie.split('=')[1] ?? '', url: server.url }])
    }
    onTestFinished(async () => {
      await context.close()
      await server.close()
    })
    return { app, page, complaints, signIn }
  }

  test('is listed, opens on a phone, and prints black on white on one sheet without navigation', async () => {
    const { app, page, complaints, signIn } = await opened()
    await signIn()
    await show(page, '/digests')
    await page.getByText('No digests yet').waitFor()
    await assertSound(page)
    // An open view would ask with the session that is over after a month.
    await page.goto('about:blank')
    const [phone] = app.alerts.channels.list()
    if (phone)
      await app.windfall.store.commit(() => app.alerts.channels.put({ ...phone, digests: ['daily'] }))
    await app.alerts.digests.make()
    for (let week = 0; week < 5; week += 1) {
      const transaction = {
        price: 1_234_567_000,
        currency: 'JPY',
        storefront: 'VCT',
        expiresDate: app.clock() + 365 * DAY,
      }
      await purchase({
        app,
        type: 'SUBSCRIBED',
        subtype: 'INITIAL_BUY',
        transaction: { ...transaction, productId: 'lantern.pro.yearly' },
      })
      if (week < 4) app.clock.turn(7 * DAY)
    }
    await app.windfall.metrics.whenCurrent()
    app.clock.set(Date.parse('2026-06-30T06:00Z'))
    await app.alerts.digests.make()

    await signIn()
    await show(page, '/digests')
    await page.getByRole('link', { name: 'Daily digest' }).first().click()
    await page.getByRole('heading', { name: 'Monday, Jun 29, 2026' }).waitFor()
    await page.getByRole('row', { name: /^Best country: St. Vincent & Grenadines ¥1,234,567/ }).waitFor()
    await assertSound(page)
    await storePicture(page, 'digest-phone')

    await page.evaluate('window.print = () => { window.printed = true }')
    await page.getByRole('button', { name: 'Print' }).click()
    expect(await page.evaluate('window.printed')).toBe(true)
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: 720, height: 1_000 })
    await storePicture(page, 'digest-print')
    for (const name of ['Print', 'More'])
      expect(await page.getByRole('button', { name }).count(), name).toBe(0)
    expect(await page.locator('nav:visible').count()).toBe(0)
    const colors = () =>
      page.evaluate<string[]>(
        `[...new Set([...document.querySelectorAll('.digest-sheet *')].map((one) => getComputedStyle(one).color))]`,
      )
    // The page takes the medium of print a moment later.
    await expect.poll(colors).toEqual(['rgb(0, 0, 0)'])
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
    for (const format of ['A4', 'Letter']) {
      const pdf = (await page.pdf({ format })).toString('latin1')
      expect(pdf.match(/\/Type \/Page\b/g), format).toHaveLength(1)
    }
    expect(complaints).toEqual([])
  })
})
