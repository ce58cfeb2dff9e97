/** The SDK in pages of Chromium without a storage: a sandboxed page, whose opaque origin has no locks either, and a web view. */
import { expect, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { BUNDLE } from '../apple/samples.ts'
import { hasChromium, launch } from '../browser/chromium.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'
import { servePages } from './pages.ts'

const PAGES = [
  { name: 'a sandboxed page', policy: 'sandbox allow-scripts', before: '' },
  {
    name: 'a web view without DOM storage',
    policy: 'frame-ancestors *',
    before: "Object.defineProperty(window, 'localStorage', { value: null })",
  },
]

test.runIf(hasChromium()).each(PAGES)('$name keeps its calls in memory and sends them', async (one) => {
  const app = await openTestApp()
  const server = closedAtEnd(await listen(app.windfall.http, { port: 0 }))
  const page_url = await servePages({ 'content-security-policy': one.policy })
  const browser = await launch()
  closedAtEnd({ close: () => browser.close() })
  const page = await browser.newPage()
  await page.addInitScript(one.before)
  await page.goto(page_url)
  const options = JSON.stringify({ url: server.url, bundleId: BUNDLE })
  const state = await page.evaluate(`(async () => {
    const sdk = await import('/sdk.mjs')
    sdk.configure(${options})
    sdk.identify('ann')
    await sdk.flush()
    return sdk.debugState()
  })()`)
  expect(state).toMatchObject({ appUserId: 'ann', queue: [], storage: 'memory', lastAnswer: '200' })
})
