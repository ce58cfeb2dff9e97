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
export const visitAsOwner = (browser: Browser, app: TestApp, size: Size, light: Light = 'light') =>
  visitWith(browser, app, { link_id: null, size, light })

/** As `visitAsOwner`, for a guest of a link that shows everything. */
export async function visitAsGuest(browser: Browser, app: TestApp, size: Size) {
  const { store, links } = app.windfall
  const everything = { organization_id: null, apps: null, basis: 'gross', metrics: null } as const
  const link = await store.commit(() =>
    links.create({ ...everything, label: 'guest', expires_at: null, passcode: null }),
  )
  return visitWith(browser, app, { link_id: link.id, size, light: 'light' })
}

type Visit = { link_id: string | null; size: Size; light: Light }

async function visitWith(browser: Browser, { windfall, signIn }: TestApp, { link_id, size, light }: Visit) {
  const server = await listen(windfall.http, { port: 0, shutdown_ms: 100 })
  windfall.http.configure({ base_url: server.url })
  const { cookie } = await signIn(link_id)
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
