import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture } from '../owned.ts'
import { show } from '../views.ts'
import { active, closed, enter, field, focused, found, openSearch } from './palettes.ts'

describe.skipIf(!hasChromium())('the search', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('the keyboard opens it, walks through the list, and opens a page in the same scope', async () => {
    const { page, complaints } = await enter(browser)
    await show(page, '/revenue?range=28d&env=sandbox&q=none')
    await page.getByRole('link', { name: 'Revenue', exact: true }).first().focus()
    await openSearch(page)
    await expect.poll(() => active(page)).toBe('Today')
    await page.keyboard.press('ArrowDown')
    expect(await active(page)).toBe('Revenue')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await active(page)).toBe('Sign out')
    await page.keyboard.press('Escape')
    await closed(page)
    expect(await focused(page)).toBe('Revenue')
    await openSearch(page)
    await page.keyboard.type('subscr')
    await expect.poll(() => active(page)).toBe('Subscriptions')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor()
    expect(new URL(page.url()).search).toBe('?range=28d&env=sandbox')
    expect(await focused(page)).toBe('Subscriptions')
    await openSearch(page)
    expect(await active(page)).toBe('Subscriptions')
    await page.keyboard.press('Control+k')
    await closed(page)
    expect(complaints).toEqual([])
  })

  test.each([
    ['webhooks', '/settings/webhooks', 'Webhooks'],
    ['share links', '/settings/guests', 'Guests'],
    ['net new', '/metrics/net_new_mrr', 'Net new MRR'],
    ['coverage', '/coverage', 'Coverage'],
    ['lifetime value', '/retention', 'Trials & retention'],
  ])('“%s” opens %s', async (text, path, heading) => {
    const { page } = await enter(browser)
    await show(page, '/')
    await openSearch(page)
    await page.keyboard.type(text)
    await expect.poll(() => active(page)).not.toBeNull()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe(path)
  })

  test('Ctrl and Enter open a page in a new tab', async () => {
    const { page } = await enter(browser)
    await show(page, '/?range=7d')
    await openSearch(page)
    await page.keyboard.type('revenue')
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.keyboard.press('Control+Enter'),
    ])
    await tab.getByRole('heading', { name: 'Revenue', level: 1 }).waitFor()
    expect(new URL(tab.url()).search).toBe('?range=7d')
    expect(await field(page).isVisible()).toBe(true)
  })

  test('the mouse marks and opens a choice, and a click beside the search closes it', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.getByRole('option', { name: 'Events' }).hover()
    await expect.poll(() => active(page)).toBe('Events')
    await page.mouse.click(5, 5)
    await closed(page)
    expect(await focused(page)).toContain('Search')
    await page.keyboard.press('Enter')
    await page.getByRole('option', { name: 'Events' }).click()
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  })

  test('a part of a name finds customers with their status, and Enter opens one', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await openSearch(page)
    await page.keyboard.type('müll')
    await expect.poll(() => found(page)).toContain('Ann Müller')
    const row = page.getByRole('option', { name: /Ann Müller/ })
    expect(await row.textContent()).toContain('Renewing')
    expect(await active(page)).toBe('Ann Müller')
    await storePicture(page, 'palette-customer')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Ann Müller', level: 1 }).waitFor()
    await show(page, '/')
    expect(await page.evaluate<string>('JSON.stringify(localStorage)')).not.toMatch(/M.ller|cus_/)
  })

  test('recent choices come first, customers only until the page is loaded again', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    for (const [text, title] of [
      ['gaps', 'Gaps'],
      ['müll', 'Ann Müller'],
      ['mrr', 'MRR'],
    ] as const) {
      await openSearch(page)
      await page.keyboard.type(text)
      await expect.poll(() => active(page)).toBe(title)
      await page.keyboard.press('Enter')
      await closed(page)
    }
    await openSearch(page)
    await expect
      .poll(async () => (await found(page)).slice(0, 4))
      .toEqual(['MRR', 'Ann Müller', 'Gaps', 'Today'])
    await storePicture(page, 'palette-recent')
    await show(page, '/')
    await openSearch(page)
    await expect.poll(async () => (await found(page)).slice(0, 3)).toEqual(['MRR', 'Gaps', 'Today'])
  })

  test('an earlier answer is never listed for a later text', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await openSearch(page)
    await page.keyboard.type('ann')
    await page.getByRole('option', { name: /Ann Müller/ }).waitFor()
    // The answer to “annabel” is held back; Enter must not open a customer of “ann”.
    let release = (): void => undefined
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/api/v1/customers?**', async (route) => {
      await isHeld
      await route.continue()
    })
    await page.keyboard.type('abel')
    await page.keyboard.press('Enter')
    expect(await found(page)).toEqual([])
    await page.getByText('Searching …').waitFor()
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).pathname).toBe('/')
    release()
    await page.getByRole('option', { name: /Annabel Martin/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Annabel Martin', level: 1 }).waitFor()
  })

  test('says what is wrong when customers cannot be searched, and finds the rest', async () => {
    const { page } = await enter(browser)
    await page.addInitScript('delete Navigator.prototype.serviceWorker')
    await show(page, '/')
    const problem = { title: 'Bad gateway', status: 400, code: 'apple', detail: 'Apple did not answer' }
    await page.route('**/api/v1/customers?**', (route) =>
      route.fulfill({ status: 400, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    )
    await openSearch(page)
    await page.keyboard.type('revenue')
    await page.getByText('Customers could not be searched: Apple did not answer').waitFor()
    expect(await active(page)).toBe('Revenue')
    await assertSound(page)
    await storePicture(page, 'palette-error')
    await page.unroute('**/api/v1/customers?**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('could not be searched').waitFor({ state: 'hidden' })
  })

  test('says nothing is found only after the metrics are known', async () => {
    const { page } = await enter(browser)
    await page.addInitScript('delete Navigator.prototype.serviceWorker')
    let release = (): void => undefined
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/api\/v1\/(?:metrics$|batch\?.*\bmetrics\b)/, async (route) => {
      await isHeld
      await route.continue()
    })
    await page.goto('/settings/about')
    await page.getByRole('heading', { name: 'About', level: 1 }).waitFor()
    await openSearch(page)
    await page.keyboard.type('q')
    await page.getByText('Searching …').waitFor()
    expect(await page.getByText('Nothing found').count()).toBe(0)
    release()
    await expect.poll(() => found(page)).toContain('Quick ratio')
  })

  test('says that nothing is found', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await openSearch(page)
    await page.keyboard.type('zzzz')
    await page.getByText('Nothing found for “zzzz”').waitFor()
    await page.keyboard.press('Enter')
    await assertSound(page)
    await storePicture(page, 'palette-empty')
    expect(await field(page).isVisible()).toBe(true)
  })

  test('actions change the theme, the range and the apps, copy the address and sign out', async () => {
    const { page } = await enter(browser)
    await show(page, '/revenue')
    const act = async (text: string): Promise<void> => {
      await openSearch(page)
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await act('dark theme')
    await closed(page)
    expect(await page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark')
    await page.getByRole('button', { name: 'Light theme' }).first().waitFor()
    await act('last 7 days')
    await expect.poll(() => new URL(page.url()).search).toBe('?range=7d')
    await act('display currency eur')
    await expect.poll(() => new URL(page.url()).search).toBe('?range=7d&display=EUR')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await act('copy link')
    await page.getByText('Link copied').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(page.url())
    await page.keyboard.press('Escape')
    await act('sign out')
    await page.getByRole('navigation').first().waitFor({ state: 'hidden' })
    const session = (await page.evaluate("fetch('/api/v1/session').then((answer) => answer.json())")) as {
      state: string
    }
    expect(session.state).toBe('setup')
  })

  test('what cannot be copied or ended is said', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await page.evaluate(
      "navigator.clipboard.writeText = () => Promise.reject(new Error('refused by the browser'))",
    )
    await openSearch(page)
    await page.keyboard.type('copy link')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Copy the address bar').waitFor()
    await page.route('**/api/v1/logout', (route) => route.abort())
    await field(page).fill('sign out')
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Cannot reach the server').waitFor()
    // Else the next Enter would end the session.
    await field(page).fill('')
    expect((await found(page))[0]).toBe('Copy link to this view')
  })

  test('view options are offered only where the view has them', async () => {
    const { page } = await enter(browser)
    await show(page, '/settings/about')
    await openSearch(page)
    await page.keyboard.type('date range')
    await page.getByText('Nothing found').waitFor()
  })

  test('a search whose code is gone asks for a reload', async () => {
    const { page } = await enter(browser)
    await page.addInitScript('delete Navigator.prototype.serviceWorker')
    await show(page, '/')
    await page.route('**/assets/part-*', (route) => route.abort())
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.getByText('The search could not be loaded').waitFor()
    await page.keyboard.press('Escape')
    await page.unroute('**/assets/part-*')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.getByRole('button', { name: 'Reload' }).or(field(page)).waitFor()
  })

  test.each(['light', 'dark'] as const)('has no faults of accessibility (%s)', async (light) => {
    const { page } = await enter(browser, 'desktop', light)
    await show(page, '/')
    await assertSound(page)
    await openSearch(page)
    await assertSound(page)
    await storePicture(page, `palette-${light}`)
    await page.keyboard.type('rev')
    await page.getByText('Searching …').waitFor({ state: 'hidden' })
    await assertSound(page)
    await storePicture(page, `palette-typed-${light}`)
  })

  test.each(['light', 'dark'] as const)('fits on a narrow phone (%s)', async (light) => {
    const { page } = await enter(browser, 'phone', light)
    await page.setViewportSize({ width: 320, height: 640 })
    await show(page, '/subscriptions')
    await assertSound(page)
    expect(await page.evaluate(OVERFLOWING)).toBe(false)
    await show(page, '/settings/about')
    await storePicture(page, `palette-bar-phone-${light}`)
    await page.getByRole('button', { name: 'Search', exact: true }).last().tap()
    await field(page).waitFor()
    await assertSound(page)
    await storePicture(page, `palette-phone-${light}`)
    await field(page).fill('ann')
    await page.getByRole('option', { name: /Ann Müller/ }).waitFor()
    await assertSound(page)
    await storePicture(page, `palette-phone-typed-${light}`)
    expect(await page.locator('.palette-hint').isVisible()).toBe(false)
    await page.getByRole('option', { name: /Ann Müller/ }).tap()
    await page.getByRole('heading', { name: 'Ann Müller', level: 1 }).waitFor()
  })
})

/** Whether the bar at the bottom is wider than the phone. */
const OVERFLOWING =
  "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.tabs-bottom'))"
