/** Every view over the demo's two years, as a person on a desk and on a phone sees it. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, type Light, launch, type Size, stumbles, visit } from './chromium.ts'
import { type Demo, openDemo } from './demo.ts'
import { scrollsSideways, settled, show, VIEWS } from './places.ts'

const LIGHTS: readonly (readonly [Size, Light])[] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
]

describe.skipIf(!hasChromium())('the dashboard', () => {
  let browser: Browser
  let demo: Demo

  beforeAll(async () => {
    browser = await launch()
    demo = await openDemo(browser)
  }, 120_000)
  afterAll(() => browser?.close())

  async function enter(size: Size, light: Light = 'light') {
    const visitor = await visit(browser, demo.base, size, light)
    await visitor.context.addCookies(demo.cookies)
    return visitor
  }

  test.for(LIGHTS)('every view is whole on a %s in %s', { timeout: 120_000 }, async ([size, light]) => {
    const { page, complaints } = await enter(size, light)
    for (const [path, heading] of VIEWS) {
      await show(page, path)
      expect(await page.getByRole('heading', { level: 1 }).textContent(), path).toBe(heading)
      expect(await page.getByText('That did not work').count(), path).toBe(0)
      expect(await scrollsSideways(page), path).toBe(false)
      expect(await stumbles(page), path).toEqual([])
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('what a view is about stands in its address, and comes back from it', async () => {
    const { page } = await enter('desktop')
    await show(page, '/revenue')
    await page.getByRole('button', { name: /^Days:/ }).click()
    await page.getByRole('radio', { name: '28 days' }).click()
    await page.getByRole('button', { name: 'Proceeds' }).click()
    await settled(page)
    expect(new URL(page.url()).search).toBe('?range=28d&basis=proceeds')
    const figure = await page.locator('.figure').first().textContent()
    await page.reload()
    await settled(page)
    expect(await page.locator('.figure').first().textContent()).toBe(figure)
    await page.getByRole('link', { name: 'Subscriptions' }).first().click()
    expect(new URL(page.url()).search).toBe('?range=28d&basis=proceeds')
    await page.context().close()
  })

  test('what happens is seen without loading anything anew', async () => {
    const { page, context } = await enter('phone')
    await show(page, '/?kind=people')
    const key = await page.evaluate<string>(
      "fetch('/api/v1/keys').then((answer) => answer.json()).then(({ keys }) => keys.find((key) => key.kind === 'publishable').token)",
    )
    const user = `seen-${Date.now()}`
    const said = await context.request.post('/api/sdk/v1/identify', {
      headers: { authorization: `Bearer ${key}` },
      data: { appUserId: user, bundleId: 'com.lanternlabs.tides' },
    })
    expect(said.status()).toBe(200)
    await page.getByText(user).first().waitFor()
    await page.context().close()
  })

  test('one walks through with the keyboard alone', async () => {
    const { page } = await enter('desktop')
    await show(page, '/')
    await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('To the content')
    const focused = async (): Promise<string> =>
      page.evaluate<string>('document.activeElement.textContent.trim()')
    for (let steps = 0; steps < 12 && (await focused()) !== 'Revenue'; steps++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Revenue', level: 1 }).waitFor()
    await page.getByRole('button', { name: /^Days:/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('radio', { name: '7 days' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('radio', { name: '7 days' }).waitFor({ state: 'hidden' })
    expect(await focused()).toContain('90 days')
    await page
      .getByRole('img', { name: /^Revenue/ })
      .first()
      .focus()
    await page.keyboard.press('End')
    await page.locator('.chart-tip').waitFor()
    await page.context().close()
  })

  test('without a network the page stands and says so', async () => {
    const { page, context } = await enter('phone')
    await show(page, '/')
    await expect.poll(() => page.evaluate<boolean>('navigator.serviceWorker.controller !== null')).toBe(true)
    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()
    await page.reload()
    await page
      .getByText(/No connection|offline/i)
      .first()
      .waitFor()
    await context.setOffline(false)
    await page.context().close()
  })
})
