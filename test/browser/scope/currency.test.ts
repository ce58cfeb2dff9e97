import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

const DAY = 86_400_000

describe.skipIf(!hasChromium())('display currency', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** An owner with an app, a purchase of $4.99, and a rate of 0.5 euros for a dollar. */
  async function enter(size: Size = 'desktop') {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    const { store, rates } = app.windfall
    const yesterday = new Date(app.clock() - DAY).toISOString().slice(0, 10)
    const read = rates.readCsv(`date,currency,rate\n${yesterday},EUR,0.5\n`, 'USD')
    await store.commit(() => rates.importRates(read))
    await purchase({ app, type: 'SUBSCRIBED' })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, size)
  }

  const pick = (page: Page, name: string) => page.getByRole('button', { name }).first()

  async function chooseEuros(page: Page): Promise<void> {
    await pick(page, 'Display currency: In USD').click()
    await page.getByRole('searchbox', { name: 'Search currencies' }).fill('euro')
    await page.getByRole('radio', { name: 'EUR – Euro' }).click()
    await pick(page, 'Display currency: In EUR').waitFor()
  }

  test('every view shows its amounts in the chosen currency, and says at which rate', async () => {
    const { page, complaints } = await enter()
    await show(page, '/')
    await page.getByText('$4.99').first().waitFor()
    await chooseEuros(page)
    await page.locator('main').getByText('€2.50').first().waitFor()
    await pick(page, 'Display currency: In EUR').click()
    await page.getByText('1 USD = 0.5 EUR').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.happenings').getByText('MRR +€2.50').waitFor()
    for (const name of ['Revenue', 'Subscriptions', 'All metrics', 'Customers']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await page.locator('main').getByText('€2.50').first().waitFor()
      expect(await page.locator('main').getByText('$').count()).toBe(0)
    }
    await page.locator('.people a').first().click()
    await page.locator('main').getByText('€2.50').first().waitFor()
    expect(complaints).toEqual([])
  })

  test('what customers were billed keeps its currency, and the filter is named so', async () => {
    const { page } = await enter()
    await show(page, '/customers?display=EUR')
    await page.locator('.people a').first().click()
    await page.getByRole('tab', { name: 'Purchases' }).or(page.getByText('Purchases')).first().waitFor()
    await page.locator('main').getByText('$4.99').first().waitFor()
    await show(page, '/revenue?display=EUR')
    await pick(page, 'Billing currency: All billing currencies').click()
    await page.getByRole('searchbox', { name: 'Search currencies' }).fill('KRW')
    await page.getByRole('radio', { name: /^KRW/ }).click()
    await pick(page, 'Billing currency: Billed in KRW').waitFor()
  })

  test('a currency without a rate is refused on the page, and the own currency leads back', async () => {
    const { page } = await enter()
    await show(page, '/revenue?display=CHF')
    await page.getByText('no exchange rate between USD and CHF is known').first().waitFor()
    await pick(page, 'Display currency: In CHF').click()
    await page.getByRole('radio', { name: /your currency/i }).click()
    await page.locator('main').getByText('$4.99').first().waitFor()
  })

  test.each(['desktop', 'phone'] as const)('the menu has no faults of accessibility (%s)', async (size) => {
    const { page } = await enter(size)
    await show(page, '/revenue?display=EUR')
    const filters = page.getByRole('button', { name: 'Filters 1' })
    expect(await filters.isVisible()).toBe(size === 'phone')
    if (size === 'phone') await filters.click()
    await pick(page, 'Display currency: In EUR').click()
    await page.getByRole('searchbox', { name: 'Search currencies' }).waitFor()
    await assertSound(page)
    await storePicture(page, `currency-${size}`)
  })
})
