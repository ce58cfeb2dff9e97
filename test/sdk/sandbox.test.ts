/** The SDK in a sandboxed page of Chromium, whose opaque origin has neither storage nor locks. */
import { expect, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { BUNDLE } from '../apple/samples.ts'
import { hasChromium, launch } from '../browser/chromium.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'
import { servePages } from './pages.ts'

test.runIf(hasChromium())('a sandboxed page keeps its calls in memory and sends them', async () => {
  const app = await openTestApp()
  const server = closedAtEnd(await listen(app.windfall.http, { port: 0 }))
  const page_url = await servePages({ 'content-security-policy': 'sandbox allow-scripts' })
  const browser = await launch()
  closedAtEnd({ close: () => browser.close() })
  const page = await browser.newPage()
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
