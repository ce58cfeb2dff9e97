/** `windfall demo` of the executable, seen in a browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch, visit } from '../browser/chromium.ts'
import { startDemoOf } from '../browser/demo/demo.ts'
import { executable } from './executable.ts'

describe.skipIf(!hasChromium())('windfall demo', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('shows a living dashboard', { timeout: 180_000 }, async () => {
    const { base, cookies } = await startDemoOf(browser, executable)
    const { page, complaints, context } = await visit(browser, base, 'desktop')
    await context.addCookies(cookies)
    await page.goto('/')
    const newest = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem').first()
    const before = await newest.textContent()
    await expect.poll(() => newest.textContent(), { timeout: 60_000 }).not.toBe(before)
    expect(complaints).toEqual([])
    await context.close()
  })
})
