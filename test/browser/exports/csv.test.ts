/** Every card of figures has a CSV, and every file can be read. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

/** The titles of the cards without a CSV. Tiles select or open a chart that has one. */
const WITHOUT_CSV = `[...document.querySelectorAll('main .card:not(a, button)')]
  .filter((card) => card.querySelector('[aria-label^=Export], a[download]') === null)
  .map((card) => card.querySelector('h2')?.textContent ?? card.ariaLabel)`

const FILES = "[...document.querySelectorAll('.menu:popover-open a[download]')].map((one) => one.href)"

describe.skipIf(!hasChromium())('CSV of cards', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function enter() {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    const { organizations, store } = app.windfall
    // Otherwise Today asks for it, in a card that loads late.
    await store.commit(() => organizations.setTimeZone(organizations.resolve(null), 'UTC'))
    const ids = { transactionId: '1001', originalTransactionId: '1001' }
    await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction: ids })
    const once = {
      transactionId: '1002',
      originalTransactionId: '1002',
      type: 'Consumable',
      expiresDate: undefined,
    }
    await purchase({ app, type: 'ONE_TIME_CHARGE', transaction: once })
    const ann = { appUserId: 'ann', bundleId: BUNDLE }
    await app.post('/api/sdk/v1/identify', ann)
    await app.post('/api/sdk/v1/attribute', { ...ann, originalTransactionId: '1001' })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, 'desktop')
  }

  /** The addresses of the files in the menus of a page. */
  async function filesIn(page: Page): Promise<string[]> {
    const menus = page.getByRole('button', { name: /^Export/ })
    const files: string[] = []
    for (const menu of await menus.all()) {
      await menu.click()
      files.push(...(await page.evaluate<string[]>(FILES)))
      await page.keyboard.press('Escape')
    }
    return files
  }

  async function assertReadable(page: Page, files: readonly string[]): Promise<void> {
    expect(files.length).toBeGreaterThan(0)
    for (const file of new Set(files)) {
      const answer = await page.request.get(file)
      expect([file, answer.status()]).toEqual([file, 200])
      expect(answer.headers()['content-type']).toMatch(/^text\/csv/)
    }
  }

  test.each([
    ['/', ['Needs attention', 'First steps', 'Latest events']],
    ['/?basis=proceeds', ['Needs attention', 'First steps', 'Latest events']],
    ['/revenue', []],
    ['/refunds', []],
    ['/subscriptions', []],
    ['/retention', []],
    ['/metrics?basis=proceeds', []],
    ['/metrics/revenue', ['Definition']],
    ['/gaps', ['Gaps']],
  ])('%s', async (path, without) => {
    const { page, complaints } = await enter()
    await show(page, path)
    const found = await page.evaluate<string[]>(WITHOUT_CSV)
    expect(found.map((title) => title.trim())).toEqual(without)
    await assertReadable(page, await filesIn(page))
    await storePicture(page, `csv${path.replace(/\W/g, '-')}`)
    expect(complaints).toEqual([])
  })

  test('a profile', async () => {
    const { page } = await enter()
    await show(page, '/customers')
    await page.getByText('ann', { exact: true }).click()
    await page.getByRole('heading', { name: 'ann', level: 1 }).waitFor()
    await show(page, page.url())
    expect(await page.evaluate<string[]>(WITHOUT_CSV)).toEqual(['IDs'])
    await assertReadable(page, await filesIn(page))
    await storePicture(page, 'csv-profile')
    await assertSound(page)
  })
})
