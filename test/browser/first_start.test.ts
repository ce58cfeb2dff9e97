/** A new Windfall, from the link that it prints to a password. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf, run, start } from '../processes.ts'
import { accessibilityViolations, hasChromium, launch, visit } from './chromium.ts'
import { settled } from './views.ts'

const PASSWORD = 'a sentence that nobody guesses'

describe.skipIf(!hasChromium())('a first start', () => {
  let browser: Browser
  let link: string
  let base: string
  const cwd = folderOf()

  beforeAll(async () => {
    browser = await launch()
    const child = start(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
    link = await child.until((text) => /http:\/\/127\.0\.0\.1:\d+\/setup#\S+/.exec(text)?.[0])
    base = new URL(link).origin
  })
  afterAll(() => browser?.close())

  test('shows how to get the setup link and nothing else without it', async () => {
    const { page, complaints } = await visit(browser, base, 'phone')
    await page.goto('/revenue')
    await page.getByRole('heading', { name: 'Set up Windfall' }).waitFor()
    expect(await page.getByText('windfall -- owner reset').count()).toBe(1)
    expect(await accessibilityViolations(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('leads from the setup link to an empty Today with next steps', async () => {
    const { page, complaints } = await visit(browser, base, 'desktop')
    await page.goto(link)
    const field = page.getByLabel('Password')
    await field.fill('windfall1234')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await field.fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
    await settled(page)
    expect(await page.getByText(/windfall -- (connect|apps add)/).count()).toBeGreaterThan(0)
    expect(page.url()).toBe(`${base}/`)
    const verdict = page.getByRole('link', { name: /Everything works|\d (error|warning)/ })
    expect(await verdict.count()).toBe(0)
    // Nothing waits for figures that cannot load.
    for (const view of ['/revenue', '/subscriptions', '/retention', '/metrics/mrr']) {
      await page.goto(view)
      await page.getByText(/windfall -- connect/).waitFor()
      expect(await page.locator('.ghost').count(), view).toBe(0)
    }
    // The browser also logs the expected refusals.
    expect(complaints.filter((words) => !/status of 40[04]/.test(words))).toEqual([])
    await page.context().close()
  })

  test('refuses the setup link a second time', async () => {
    const { page } = await visit(browser, base, 'desktop')
    await page.goto(link)
    await page.getByLabel('Password').waitFor()
    expect(await page.getByRole('heading', { name: 'Today' }).count()).toBe(0)
    await page.context().close()
  })

  test('shows the first user of the first app on Today', async () => {
    expect((await run(['apps', 'add', 'com.example.app'], { cwd })).status).toBe(0)
    const identified = await fetch(`${base}/api/sdk/v1/identify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ appUserId: 'user-1', bundleId: 'com.example.app' }),
    })
    expect(identified.status).toBe(200)
    const { page } = await visit(browser, base, 'desktop')
    await page.goto('/')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('list', { name: 'Events, newest first' }).getByText('user-1').waitFor()
    await page.context().close()
  })

  test('signs the owner in and out', async () => {
    const { page } = await visit(browser, base, 'phone')
    await page.goto('/customers')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor()
    await page.getByRole('button', { name: /^More(:|$)/ }).click()
    await page.getByRole('button', { name: 'Sign out' }).last().click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })
})
