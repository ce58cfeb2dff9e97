/** A page with the owner signed in, on a server of the test. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { listen } from '../../src/http/server.ts'
import type { TestApp } from '../helpers.ts'
import { accessibilityViolations, type Light, type Size, visit } from './chromium.ts'
import { scrollsSideways } from './views.ts'

/** Serves an app and opens its dashboard. Both end with the test. */
export async function visitAsOwner(
  browser: Browser,
  { windfall, signIn }: TestApp,
  size: Size,
  light: Light = 'light',
) {
  const server = await listen(windfall.http, { port: 0, shutdown_ms: 100 })
  windfall.http.configure({ base_url: server.url })
  const { cookie } = await signIn()
  const { context, page, complaints } = await visit(browser, server.url, size, light)
  await context.addCookies([{ name: 'windfall', value: cookie.split('=')[1] ?? '', url: server.url }])
  onTestFinished(async () => {
    await context.close()
    await server.close()
  })
  return { page, complaints }
}

/** The page has no fault of accessibility, and does not scroll sideways. */
export async function assertSound(page: Page): Promise<void> {
  expect(await accessibilityViolations(page)).toEqual([])
  expect(await scrollsSideways(page)).toBe(false)
}

/** Stores a picture of a page where WINDFALL_SCREENSHOTS names a folder, to be looked at. */
export async function storePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.WINDFALL_SCREENSHOTS
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
