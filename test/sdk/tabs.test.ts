/** Two tabs of Chromium on one queue, against the real server: each call arrives once, in order, also if a tab is closed. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { BUNDLE } from '../apple/samples.ts'
import { hasChromium, launch } from '../browser/chromium.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'
import { servePages } from './pages.ts'

describe.runIf(hasChromium())('two tabs', () => {
  let browser: Awaited<ReturnType<typeof launch>>
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  /** Two tabs of one origin with the SDK, and the calls that reach the server. */
  async function openTabs(withLocks: boolean) {
    const app = await openTestApp()
    const server = closedAtEnd(await listen(app.windfall.http, { port: 0 }))
    const calls: { tab: number; body: Record<string, unknown> }[] = []
    let isOffline = false
    const context = await browser.newContext()
    if (!withLocks)
      await context.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })")
    const page_url = await servePages()
    const pages: Page[] = []
    await context.route(`${server.url}/**`, async (route) => {
      if (isOffline) return route.abort()
      if (route.request().method() === 'POST')
        calls.push({
          tab: pages.indexOf(route.request().frame().page()),
          body: route.request().postDataJSON(),
        })
      return route.continue()
    })
    for (const _ of [1, 2]) {
      const page = await context.newPage()
      pages.push(page)
      await page.goto(page_url)
      await page.evaluate(`import('/sdk.mjs').then((sdk) => { window.sdk = sdk })`)
    }
    const configure = (page: Page) =>
      page.evaluate(
        `sdk.configure({ url: ${JSON.stringify(server.url.replace(/\/$/, ''))}, bundleId: '${BUNDLE}' })`,
      )
    /** Waits until the queue is empty: the sender may be the other tab. */
    const drained = (page: Page) =>
      expect
        .poll(
          () => page.evaluate('sdk.flush().then(() => sdk.debugState()).then(({ queue }) => queue.length)'),
          { interval: 200, timeout: 30_000 },
        )
        .toBe(0)
    return {
      pages: pages as [Page, Page],
      calls,
      configure,
      drained,
      setOffline(next: boolean): void {
        isOffline = next
      },
    }
  }

  const PURCHASES = (tab: number) =>
    `for (let at = 0; at < 10; at += 1) sdk.attributePurchase({ originalTransactionId: String(${tab}000 + at) })`

  for (const withLocks of [true, false]) {
    const name = withLocks ? 'with navigator.locks' : 'with a lease'

    test(`${name}: both share one anonymous id and one queue, and each call arrives once, in its tab's order`, async () => {
      const { pages, calls, configure, drained } = await openTabs(withLocks)
      await Promise.all(pages.map(configure))
      if (!withLocks) await pages[0].evaluate('sdk.flush()')
      await Promise.all(pages.map((page, at) => page.evaluate(PURCHASES(at + 1))))
      for (const page of pages) await drained(page)
      const ids = calls.map(({ body }) => String(body.originalTransactionId))
      if (withLocks) expect(ids).toHaveLength(20)
      expect(new Set(ids).size).toBe(20)
      for (const tab of ['1', '2']) {
        const own = [...new Set(ids.filter((id) => id.startsWith(tab)))]
        expect(own).toEqual([...own].sort())
      }
      if (withLocks) expect(new Set(calls.map(({ body }) => body.appUserId)).size).toBe(1)
    })

    test(`${name}: what a closed tab queued offline is sent by the other one`, async () => {
      const { pages, calls, configure, drained, setOffline } = await openTabs(withLocks)
      setOffline(true)
      await configure(pages[0])
      await pages[0].evaluate(
        `sdk.identify('ann', { plan: 'pro' }); sdk.attributePurchase({ originalTransactionId: '1' })`,
      )
      await pages[0].evaluate('sdk.flush()')
      await pages[0].close()
      setOffline(false)
      await configure(pages[1])
      await drained(pages[1])
      expect(
        calls.map(({ body }) => [body.appUserId, body.originalTransactionId ?? body.attributes]),
      ).toEqual([
        ['ann', { plan: 'pro' }],
        ['ann', '1'],
      ])
      const state = (await pages[1].evaluate('sdk.debugState()')) as { appUserId: string }
      expect(state.appUserId).toBe('ann')
    })
  }
})
