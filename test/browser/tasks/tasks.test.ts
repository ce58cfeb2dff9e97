/** Ten questions of an owner, answered from *Today* by labels that a person reads, each within three clicks. */
import { readFileSync } from 'node:fs'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch, visit } from '../chromium.ts'
import { DEMO_MS, type Demo, openDemo } from '../demo/demo.ts'
import { settled, show } from '../views.ts'

const MAX_CLICKS = 3

describe.skipIf(!hasChromium())('ten questions', () => {
  let browser: Browser
  let demo: Demo
  beforeAll(async () => {
    browser = await launch()
    demo = await openDemo(browser)
  }, DEMO_MS)
  afterAll(() => browser?.close())

  /** Opens *Today* and counts clicks. `answer` ends the question. */
  async function ask() {
    const { page, context } = await visit(browser, demo.base, 'desktop', 'light')
    await context.addCookies(demo.cookies)
    await show(page, '/')
    let clicks = 0
    return {
      page,
      context,
      async click(target: Locator): Promise<void> {
        clicks += 1
        await target.click()
      },
      link: (name: string | RegExp) =>
        page.getByRole('link', { name, exact: typeof name === 'string' }).first(),
      button: (name: string | RegExp) => page.getByRole('button', { name }).first(),
      card: (name: string) => cardOf(page, name),
      async end(): Promise<void> {
        expect(clicks).toBeLessThanOrEqual(MAX_CLICKS)
        await context.close()
      },
    }
  }

  const cardOf = (page: Page, name: string): Locator =>
    page.locator('section.card', { has: page.getByRole('heading', { name, exact: true }) })

  test('What did I earn yesterday after Apple’s share?', async () => {
    const { page, end } = await ask()
    await page.getByRole('heading', { name: 'Proceeds yesterday' }).waitFor()
    expect(
      await page.locator('.hero', { hasText: 'Proceeds yesterday' }).locator('.figure').textContent(),
    ).toMatch(/\$[\d,.]+/)
    await end()
  })

  test('Is churn getting worse?', async () => {
    const { page, click, link, end } = await ask()
    await click(link('Subscriptions'))
    await page.getByText(/churn (is|may be) (getting|about)/i).waitFor()
    await end()
  })

  test('Whom may I lose this week?', async () => {
    const { click, link, button, card, end } = await ask()
    await click(link('Subscriptions'))
    await click(button('This week'))
    const rows = card('Ends this week, soonest first').locator('tbody tr')
    await rows.first().waitFor()
    for (const text of await rows.allTextContents())
      expect(text).toMatch(/ends .*(?:\$\d|not paid yet|no rate)/)
    await end()
  })

  test('Why is a purchase unverified?', async () => {
    const { page, click, link, end } = await ask()
    await click(link('Customers'))
    await settled(page)
    // A name with the mark of an unverified user.
    const unverified = page.locator('main a[href^="/customers/"]', {
      has: page.locator('.person-name:not(.quiet)'),
    })
    await click(unverified.filter({ has: page.getByText('unverified', { exact: true }) }).first())
    const reason = page.locator('.profile-identity .notice').first()
    expect(await reason.textContent()).toMatch(/unverified\. \w.{20,}/)
    await click(reason.getByRole('link', { name: 'How to verify purchases' }))
    await page.getByRole('heading', { name: 'API', level: 1 }).waitFor()
    await end()
  })

  test('What did a refund do to MRR?', async () => {
    const { page, click, link, end } = await ask()
    await click(link('Refunds'))
    const rows = page.getByRole('region', { name: 'Refunds' }).locator('tbody tr')
    await rows.first().waitFor()
    expect(await rows.locator('td:last-child').allTextContents()).toContainEqual(
      expect.stringMatching(/^-\$\d+\.\d\d$/),
    )
    await end()
  })

  test('Which country grows fastest?', async () => {
    const { page, click, link, card, end } = await ask()
    await click(link('Revenue'))
    await click(card('Countries').getByRole('button', { name: 'Growth' }))
    await settled(page)
    expect(await card('Countries').locator('.breakdown li').first().textContent()).toMatch(/\+[\d.]+ ?%/)
    await end()
  })

  test('What is the trial conversion of a product?', async () => {
    const { page, click, link, end } = await ask()
    await click(link('Trials & retention'))
    await click(link('Trial conversion'))
    await settled(page)
    const products = cardOf(page, 'Products')
    await products.scrollIntoViewIfNeeded()
    await products
      .getByText(/n = \d+/)
      .first()
      .waitFor()
    await end()
  })

  test('Which customer has this e-mail address?', async () => {
    const { page, click, link, end } = await ask()
    await click(link('Customers'))
    const list = page.locator('main a[href^="/customers/"]')
    await list.first().waitFor()
    await page.getByRole('searchbox', { name: 'Search customers' }).fill('liam.')
    const names = list.locator('.person-name')
    await expect
      .poll(async () => new Set((await names.allTextContents()).map((name) => name.split(' ')[0])))
      .toEqual(new Set(['Liam']))
    await settled(page)
    await click(list.first())
    await page
      .getByText(/^liam\..+@/)
      .first()
      .waitFor()
    await end()
  })

  test('What was last month’s revenue by country, as CSV?', async () => {
    const { page, click, link, card, end } = await ask()
    await click(link('Revenue'))
    await click(card('Countries').getByRole('button', { name: 'Export' }))
    const download = page.waitForEvent('download')
    await click(page.getByRole('link', { name: 'CSV, totals of last month' }))
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\r\n')
    const column = (name: string) => (lines[0] ?? '').split(',').indexOf(name)
    const rows = lines.slice(1).map((line) => line.split(','))
    expect(rows.length).toBeGreaterThan(1)
    expect(new Set(rows.map((row) => row[column('on')])).size).toBe(1)
    await end()
  })

  test('How do I share MRR alone?', async () => {
    const { page, click, link, button, end } = await ask()
    await click(link('Subscriptions'))
    await click(page.locator('a.stat', { hasText: 'MRR' }).first())
    await page.getByRole('heading', { level: 1, name: 'MRR' }).waitFor()
    await click(button('Share'))
    await page.getByRole('dialog').getByText('MRR', { exact: true }).first().waitFor()
    await end()
  })
})
