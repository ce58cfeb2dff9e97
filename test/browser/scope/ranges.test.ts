import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { scrollsSideways, show } from '../views.ts'

const DAY = 86_400_000

describe.skipIf(!hasChromium())('ranges and comparison', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** An owner with a purchase today, one a week ago and one a year ago. The clock of the server is the browser's. */
  async function enter(size: Size = 'desktop') {
    const now = Date.now()
    const app = await openAlertingApp({ clock: handClock(now) })
    for (const [id, days] of [
      ['1', 365],
      ['2', 7],
      ['3', 0],
    ] as const) {
      const at = now - days * DAY - 60_000
      const ids = { transactionId: id, originalTransactionId: id, appTransactionId: `70400${id}` }
      const times = { purchaseDate: at, originalPurchaseDate: at, signedDate: at, expiresDate: at + 30 * DAY }
      await purchase({ app, type: 'SUBSCRIBED', transaction: { ...ids, ...times } })
    }
    await app.windfall.metrics.whenCurrent()
    return { ...(await visitAsOwner(browser, app, size)), app }
  }

  const picker = (page: Page, name: RegExp) => page.getByRole('button', { name }).first()
  const parameters = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

  test('a preset is in the address by its name', async () => {
    const { page, complaints } = await enter()
    await show(page, '/revenue')
    for (const [title, range] of [
      ['Today', 'today'],
      ['Last week', 'last_week'],
      ['This fiscal month', 'fiscal_month'],
      ['All time', 'all'],
      ['Last 90 days', undefined],
    ] as const) {
      await picker(page, /^Date range/).click()
      await page.getByRole('radio', { name: title, exact: true }).click()
      await picker(page, new RegExp(`^Date range: ${title}`)).waitFor()
      expect(parameters(page).range).toBe(range)
    }
    expect(complaints).toEqual([])
  })

  test('the waterfall ends today, although its last month does not', async () => {
    const { page } = await enter()
    await show(page, '/subscriptions?range=28d&by=month')
    const today = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(
      Date.now(),
    )
    const waterfall = page.locator('section.card', { hasText: 'What moved MRR' })
    await expect.poll(() => waterfall.locator('p.small').innerText()).toMatch(new RegExp(` – ${today}$`))
  })

  test('the calendar is used with the keyboard alone', async () => {
    const { page } = await enter()
    await show(page, '/revenue?range=custom&from=2026-03-10&to=2026-03-12')
    await picker(page, /^Date range/).click()
    await page.locator('.calendar button[tabindex="0"]').focus()
    expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toMatch(/March 12, 2026/)
    for (const key of ['PageUp', 'Home', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    await page.getByText(/Choose the last day/).waitFor()
    for (const key of ['End', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
    await expect.poll(() => parameters(page)).toMatchObject({ from: '2026-02-16', to: '2026-02-23' })
    await picker(page, /^Date range: Feb 16, 2026 – Feb 23, 2026/).waitFor()
    expect(await page.evaluate<string>('document.activeElement.textContent')).toMatch(/Feb 16/)
  })

  test('a day after today cannot be chosen', async () => {
    const { page } = await enter()
    await show(page, '/revenue')
    await picker(page, /^Date range/).click()
    await page.locator('.calendar button[tabindex="0"]').focus()
    const today = await page.evaluate<string>('document.activeElement.ariaLabel')
    await page.keyboard.press('PageDown')
    expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe(today)
    expect(await page.getByRole('button', { name: 'Next month' }).isDisabled()).toBe(true)
    await assertSound(page)
    await storePicture(page, 'ranges')
  })

  test('the compared period is a line on each chart, by parts and by value, and in the table', async () => {
    const { page } = await enter()
    await show(page, '/revenue?range=7d')
    await picker(page, /^Compare with/).click()
    await page.getByRole('radio', { name: 'Previous period' }).click()
    const card = page
      .locator('section.card', { has: page.getByRole('heading', { name: /^Revenue/, level: 2 }) })
      .first()
    await card.getByText('Previous period').first().waitFor()
    await show(page, '/revenue?range=7d&compare=year&revenue.split=product')
    await card.getByText('Same period last year').first().waitFor()
    await card.getByRole('button', { name: 'View as table' }).click()
    await card.getByRole('columnheader', { name: 'Same period last year' }).waitFor()
    const cells = await card.locator('tbody tr').allTextContents()
    expect(cells.filter((text) => /\$4\.99.*\$4\.99/.test(text)).length).toBeGreaterThanOrEqual(1)
  })

  test('charts by month have the compared period, too', async () => {
    const { page } = await enter()
    for (const [path, title, row] of [
      ['/revenue?compare=year', 'ARPPU', /\$4\.99.*\$4\.99/],
      ['/subscriptions?compare=year', 'Is churn getting worse?', /./],
    ] as const) {
      await show(page, path)
      const card = page.locator('section.card', { has: page.getByRole('heading', { name: title }) })
      await card.getByRole('button', { name: 'View as table' }).click()
      await card.getByRole('columnheader', { name: 'Same period last year' }).waitFor()
      expect((await card.locator('tbody tr').allTextContents()).join('\n')).toMatch(row)
    }
  })

  test('breakdowns, status, customers at risk and the funnel have a CSV of what they show', async () => {
    const { page, app } = await enter()
    const token = `Bearer ${await app.token()}`
    const seen: string[] = []
    for (const [path, title] of [
      ['/revenue?range=7d', 'Countries'],
      ['/revenue?range=7d', 'Products'],
      ['/subscriptions?range=7d', 'Status now'],
      ['/subscriptions?range=7d', 'At risk, highest MRR first'],
      ['/retention?range=7d', 'From download to payment'],
    ] as const) {
      await show(page, path)
      const card = page.locator('section.card', {
        has: page.getByRole('heading', { name: new RegExp(`^${title}`) }),
      })
      await card.getByRole('button', { name: 'Export' }).click()
      const url = await page
        .getByRole('link', { name: /^CSV(, one row per figure)?$/ })
        .first()
        .getAttribute('href')
      const answer = await app.request(url ?? '', { headers: { authorization: token } })
      expect([title, answer.status]).toEqual([title, 200])
      const text = await answer.text()
      expect(text).not.toContain(',previous,')
      seen.push(text)
      await page.keyboard.press('Escape')
    }
    expect(seen[0]).toContain(',USA,')
  })

  test('the log of events, gaps and coverage have a CSV', async () => {
    const { page, app } = await enter()
    const token = `Bearer ${await app.token()}`
    for (const [path, head] of [
      ['/events?type=subscription.started', 'seq,id,organization_id'],
      ['/gaps', 'id,first_signed_at'],
      ['/coverage', 'app_id,month'],
    ] as const) {
      await show(page, path)
      const url = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
      const answer = await app.request(url ?? '', { headers: { authorization: token } })
      const text = await answer.text()
      expect(text.slice(0, head.length)).toBe(head)
      if (path.startsWith('/events')) expect(text.trim().split('\r\n')).toHaveLength(4)
    }
  })

  test('countries are sorted by growth within two clicks, and the order is in the address', async () => {
    const { page } = await enter()
    await show(page, '/')
    await page.getByRole('link', { name: 'Revenue', exact: true }).first().click()
    const order = page.getByRole('group', { name: 'Sort countries by' })
    await order.getByRole('button', { name: 'Growth' }).click()
    await page.getByText('Values that are new').waitFor()
    expect(parameters(page)['revenue.country.order']).toBe('growth')
    await page.locator('.breakdown').first().waitFor()
    await assertSound(page)
    await storePicture(page, 'growth')
  })

  test('the menu of ranges fits a phone', async () => {
    const { page } = await enter('phone')
    await show(page, '/revenue')
    await picker(page, /^Date range/).click()
    await page.locator('.calendar').scrollIntoViewIfNeeded()
    expect(await scrollsSideways(page)).toBe(false)
    await assertSound(page)
    await storePicture(page, 'ranges-phone')
  })
})
