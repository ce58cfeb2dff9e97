import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
import { BUNDLE } from '../apple/samples.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { hasChromium, launch, launchWithScrollbars, type Size } from './chromium.ts'
import { storePicture, visitAsOwner } from './owned.ts'
import { scrollsSideways, show } from './views.ts'

const heading = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "document.activeElement.matches('h1') ? document.activeElement.textContent.trim() : ''",
  )

describe.skipIf(!hasChromium())('finding one’s way', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** An owner with an app and some purchases. */
  async function enter(
    size: Size = 'desktop',
    purchases: Record<string, unknown>[] = [{}],
    currency = 'USD',
  ) {
    const named = { WINDFALL_ORGANIZATIONS_0_SLUG: 'acme', WINDFALL_ORGANIZATIONS_0_NAME: 'Acme' }
    const env = { ...named, WINDFALL_ORGANIZATIONS_0_CURRENCY: currency }
    const app = await openAlertingApp({ clock: handClock(Date.now()), env })
    for (const transaction of purchases) await purchase({ app, type: 'SUBSCRIBED', transaction })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, size)
  }

  test('a view names the tab, and its heading takes the focus', async () => {
    const { page, complaints } = await enter()
    await show(page, '/')
    expect(await page.title()).toBe('Today · Windfall')
    expect(await heading(page)).toBe('')
    for (const name of ['Revenue', 'All metrics', 'Customers', 'Settings']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await expect.poll(() => heading(page)).toBe(name)
      await expect.poll(() => page.title()).toBe(`${name} · Windfall`)
    }
    await show(page, '/customers')
    await page.locator('.people a').first().click()
    await expect.poll(() => page.title()).toMatch(/^Anonymous · cus_[0-9a-f]{8,} · Windfall$/)
    await expect.poll(() => heading(page)).toMatch(/^Anonymous · cus_/)
    await page.goBack()
    await expect.poll(() => page.title()).toBe('Customers · Windfall')
    expect(complaints).toEqual([])
  })

  test('every view opens offline, seen before or not', async () => {
    const { page } = await enter()
    await show(page, '/')
    await expect.poll(() => page.evaluate<boolean>('navigator.serviceWorker.controller !== null')).toBe(true)
    await page.context().setOffline(true)
    for (const name of ['Subscriptions', 'Trials & retention', 'Events', 'Settings', 'Customers']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
    }
  })

  test('a view whose code is gone asks for a reload, and a reload opens it', async () => {
    const { page } = await enter()
    // As in a browser where the new version has replaced the files of the old one.
    await page.addInitScript('delete Navigator.prototype.serviceWorker')
    await show(page, '/')
    await page.route('**/assets/part-*', (route) => route.abort())
    await page.getByRole('link', { name: 'Revenue' }).first().click()
    await page.getByText('This view could not be loaded').waitFor()
    await page.unroute('**/assets/part-*')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Revenue', level: 1 }).waitFor()
  })

  test('a definition opens under the mouse, stays while it is read, and a click pins it', async () => {
    const { page } = await enter()
    await page.clock.install()
    await show(page, '/')
    const button = page.getByRole('button', { name: 'What is MRR?' })
    const text = page.getByRole('dialog', { name: 'What is MRR?' })
    await button.hover()
    await text.waitFor()
    await text.hover()
    await page.clock.runFor(300)
    expect(await text.isVisible()).toBe(true)
    await page.mouse.move(0, 0)
    await text.waitFor({ state: 'hidden' })
    await button.click()
    await text.waitFor()
    await page.mouse.move(0, 0)
    await page.clock.runFor(300)
    expect(await text.isVisible()).toBe(true)
    await button.click()
    await text.waitFor({ state: 'hidden' })
    await button.press('Enter')
    await text.waitFor()
    await page.keyboard.press('Escape')
    await text.waitFor({ state: 'hidden' })
  })

  test('a tap opens a definition, and the next one closes it', async () => {
    const { page } = await enter('phone')
    await show(page, '/')
    const button = page.getByRole('button', { name: 'What is MRR?' })
    const text = page.getByRole('dialog', { name: 'What is MRR?' })
    await button.tap()
    await text.waitFor()
    await button.tap()
    await text.waitFor({ state: 'hidden' })
  })

  test('beside a scrollbar, nothing that opens at the right edge is under it', async () => {
    const withScrollbars = await launchWithScrollbars()
    onTestFinished(() => withScrollbars.close())
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    await purchase({ app, type: 'SUBSCRIBED' })
    await app.windfall.metrics.whenCurrent()
    const { page } = await visitAsOwner(withScrollbars, app, 'desktop')
    await show(page, '/revenue')
    const width = await page.evaluate<number>('document.documentElement.clientWidth')
    expect(width).toBeLessThan(1360)
    await page.getByRole('button', { name: 'Export and annotate' }).first().click()
    const menu = await page.locator('.menu:popover-open').boundingBox()
    // The margin that a popover keeps to each edge of the page.
    expect((menu?.x ?? 0) + (menu?.width ?? 0)).toBeLessThanOrEqual(width - 12)
  })

  test.for(['de-DE', 'ar-EG', 'ja-JP'])(
    'dates and numbers are English in a browser of %s',
    async (locale) => {
      const { page: english } = await enter()
      await show(english, '/')
      const { origin } = new URL(english.url())
      const storageState = await english.context().storageState()
      const context = await browser.newContext({ locale, storageState, baseURL: origin })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      await show(page, '/')
      expect(await page.evaluate<string>('navigator.language')).toBe(locale)
      expect(await page.locator('.page-head p').innerText()).toMatch(
        /^[A-Z][a-z]+day, [A-Z][a-z]{2} \d+, 20\d\d$/,
      )
      for (const path of [
        '/revenue?revenue.as=table',
        '/subscriptions',
        '/customers',
        '/events',
        '/settings/about',
      ]) {
        await show(page, path)
        const text = await page.locator('body').innerText()
        expect(text, path).not.toMatch(FOREIGN)
      }
    },
  )

  test('the list of all metrics fills both columns', async () => {
    const { page } = await enter()
    await show(page, '/metrics')
    const ends = await page.locator('.columns > section').evaluateAll((all) =>
      all.map((one) => {
        const { left, bottom } = one.getBoundingClientRect()
        return { left, bottom }
      }),
    )
    const bottoms = [...Map.groupBy(ends, ({ left }) => left).values()].map((column) =>
      Math.max(...column.map(({ bottom }) => bottom)),
    )
    await storePicture(page, 'all-metrics')
    expect(bottoms).toHaveLength(2)
    expect(Math.min(...bottoms)).toBeGreaterThan(0.85 * Math.max(...bottoms))
  })

  test('without an app, every view of figures says how to connect one', async () => {
    const app = await openTestApp({ clock: handClock(Date.now()) })
    const { windfall, organization } = app
    await windfall.store.commit(() => windfall.apps.remove(organization.id, BUNDLE))
    const { page } = await visitAsOwner(browser, app, 'desktop')
    for (const path of ['/', '/revenue', '/subscriptions', '/retention', '/metrics', '/metrics/mrr']) {
      await show(page, path)
      await page
        .getByRole('heading', { name: /connect/i })
        .first()
        .waitFor()
    }
  })

  test.for([
    ['JPY', 12_345_678, '¥12.3M', [390, 1360]],
    ['IDR', 4_968_825_700, 'Rp 5B', [320, 390, 768, 1100]],
  ] as const)('amounts in %s fit at every width', async ([currency, amount, short, widths]) => {
    const { page, complaints } = await enter('desktop', [{ currency, price: amount * 1000 }], currency)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      for (const path of ['/', '/revenue', '/subscriptions', '/customers', '/metrics']) {
        await show(page, path)
        await page.getByText(short).first().waitFor()
        await storePicture(page, `amounts-${currency}-${width}${path.replace('/', '-')}`)
        expect(await scrollsSideways(page), `${path} at ${width}`).toBe(false)
        expect(await page.evaluate(OVERFLOWING), `${path} at ${width}`).toEqual([])
      }
    }
    expect(complaints).toEqual([])
  })

  test('a product beyond the listed ones is found by searching', async () => {
    const products = Array.from({ length: 60 }, (_, index) => ({
      productId: `lantern.pack_${index}`,
      price: 60_000 - index * 100,
    }))
    const { page } = await enter('desktop', products)
    await show(page, '/metrics/revenue')
    await page.getByRole('button', { name: 'All products' }).click()
    await page.getByText('10 others: search for them').waitFor()
    expect(await page.getByLabel('Lantern Pack 59').count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Search products' }).fill('pack 59')
    await page.getByLabel('Lantern Pack 59').click()
    await expect.poll(() => new URL(page.url()).searchParams.get('product')).toBe('lantern.pack_59')
    await page.getByRole('searchbox', { name: 'Search products' }).fill('nothing')
    await page.getByText('No products found').waitFor()
  })
})

/** Letters of other scripts, and German names of months and days. */
const FOREIGN =
  /[\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff]|\b(Januar|Februar|März|Mai|Juni|Juli|Okt|Oktober|Dez|Dezember|\w+tag)\b/u

/** Figures that are wider than their place, or that break within the number. */
const OVERFLOWING = `[...document.querySelectorAll('.figure, .counter dd, .worth, .person .mrr, .metric-now strong')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline' ||
    one.matches('.figure') && one.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(one).fontSize))
  .map((one) => one.className + ': ' + one.textContent)`
