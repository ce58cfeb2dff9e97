import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { scrollsSideways, show } from '../views.ts'

describe.skipIf(!hasChromium())('finding customers', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const PEOPLE = [
    ['user_1', '1001', { name: 'Ann Müller', email: 'ann@example.com' }, 4_990],
    ['user_2', '1002', { name: 'Bob Martin', email: 'bob@example.com' }, 9_990],
    ['user_3', '1003', {}, 990],
    ['$anon_04c50a3e-1ff2-4fd7-a3ab-0c5f7a0f0001', '1005', {}, 490],
  ] as const

  /** An owner with three identified customers, one whose id an SDK generated, and one without an id. */
  async function enter(size: Size = 'desktop') {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    for (const [appUserId, originalTransactionId, attributes, price] of PEOPLE) {
      const ids = {
        transactionId: originalTransactionId,
        originalTransactionId,
        appTransactionId: `70400${originalTransactionId}`,
      }
      await purchase({ app, type: 'SUBSCRIBED', transaction: { ...ids, price } })
      await app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes })
      await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
    }
    const ids = { transactionId: '1004', originalTransactionId: '1004', appTransactionId: '704001004' }
    await purchase({ app, type: 'SUBSCRIBED', transaction: { ...ids, price: 19_990 } })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, size)
  }

  /** The names, without their marks. */
  const names = async (page: Page): Promise<string[]> =>
    (await page.locator('.people a .person-name').allTextContents()).map((text) =>
      text.replace(/ unverified$/, ''),
    )
  const search = (page: Page, text: string): Promise<void> =>
    page.getByRole('searchbox', { name: 'Search customers' }).fill(text)

  test('the feed and the log name customers as their list does', async () => {
    const { page, complaints } = await enter()
    for (const path of ['/', '/events?type=subscription.started']) {
      await show(page, path)
      const shown = () => page.locator('.happened-user .cut').allTextContents()
      await expect.poll(shown).toEqual(['Anonymous user', 'user_3', 'Bob Martin', 'Ann Müller'])
    }
    expect(await page.locator('.happened-user').last().getAttribute('title')).toBe('user_1')
    expect(complaints).toEqual([])
  })

  test('a profile says the user id once: as its name, or beside it', async () => {
    const { page } = await enter()
    for (const [name, hasIdBeside] of [
      ['Ann Müller', true],
      ['user_3', false],
    ] as const) {
      await show(page, '/customers')
      await page.locator('.people').getByText(name, { exact: true }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      expect(/user_\d/.test(await page.locator('.profile-head p').innerText())).toBe(hasIdBeside)
    }
  })

  test('a part of a name, an e-mail or a user id finds the customer', async () => {
    const { page, complaints } = await enter()
    await show(page, '/customers')
    await expect.poll(async () => (await names(page)).length).toBe(5)
    expect((await names(page))[0]).toMatch(/^Anonymous · cus_/)
    expect((await names(page)).at(-1)).toMatch(/^Anonymous · cus_/)
    for (const [text, found] of [
      ['müll', ['Ann Müller']],
      ['BOB@ex', ['Bob Martin']],
      ['ser_3', ['user_3']],
    ] as const) {
      await search(page, text)
      await expect.poll(() => names(page)).toEqual(found)
    }
    await search(page, 'nobody')
    await page.getByText('No customers found').waitFor()
    await page.getByText('An order id').waitFor()
    await search(page, 'bo')
    await page.getByText('Parts are searched from 3 characters on').waitFor()
    await search(page, 'example.com')
    await expect.poll(() => names(page)).toEqual(['Bob Martin', 'Ann Müller'])
    await page.getByText('Ann Müller').click()
    await page.getByRole('heading', { name: 'Ann Müller', level: 1 }).waitFor()
    expect(complaints).toEqual([])
  })

  test('headings sort, and columns are chosen and kept', async () => {
    const { page } = await enter()
    await show(page, '/customers')
    const heading = (title: string) => page.locator('.person.head').getByRole('button', { name: title })
    expect(await heading('Lifetime value').getAttribute('aria-pressed')).toBe('true')
    await heading('MRR').click()
    await expect.poll(() => heading('MRR').getAttribute('aria-pressed')).toBe('true')
    expect(page.url()).toContain('sort=mrr')
    await page.getByRole('button', { name: 'Choose: Columns' }).click()
    for (const title of ['Last seen', 'Refunded', 'Country'])
      await page.getByLabel(title, { exact: true }).check()
    await page.getByLabel('Product', { exact: true }).uncheck()
    await page.keyboard.press('Escape')
    const titles = () => page.locator('.person.head > span').allTextContents()
    const chosen = [
      'Customer',
      'Status',
      'Lifetime value',
      'MRR',
      'Months paid',
      'Last seen',
      'Refunded',
      'Country',
    ]
    expect((await titles()).map((title) => title.trim())).toEqual(chosen)
    await page.reload()
    await page.locator('.people a').first().waitFor()
    expect((await titles()).map((title) => title.trim())).toEqual(chosen)
    expect(await scrollsSideways(page)).toBe(false)
    await assertSound(page)
    await storePicture(page, 'customers-columns')
  })

  test('a phone shows cards, whatever the columns', async () => {
    const { page } = await enter('phone')
    await show(page, '/customers')
    await page.evaluate("localStorage.setItem('customer_columns', 'country,app,last_seen,ltv')")
    await page.reload()
    await page.locator('.people a').first().waitFor()
    expect(await scrollsSideways(page)).toBe(false)
    await assertSound(page)
    await storePicture(page, 'customers-phone')
  })
})
