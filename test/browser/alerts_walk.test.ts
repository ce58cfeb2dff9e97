/** From *Today* to the first message about the business, on a phone. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isLong } from '../random.ts'
import { hasChromium, launch, visit } from './chromium.ts'
import { DEMO_MS, type Demo, openDemo } from './demo/demo.ts'

/** What a person does at most, in the dashboard. */
const MAX_TAPS = 8
const MAX_FIELDS = 1
/** In the long form: until the demo has sold something. */
const WAIT_MS = 40 * 60_000

/** A receiver of messages, and their titles. */
async function openReceiver() {
  const titles: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      titles.push(JSON.parse(body).title)
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/phone`, titles }
}

/** The other tests of the demo need no channel. */
async function removeChannels({ request }: BrowserContext): Promise<void> {
  const path = '/api/v1/alerts/channels'
  const { channels } = (await (await request.get(path)).json()) as {
    channels: { id: string; kind: string }[]
  }
  for (const { id, kind } of channels) if (kind === 'json') await request.delete(`${path}/${id}`)
}

describe.skipIf(!hasChromium())('the first alert', () => {
  let browser: Browser
  let demo: Demo
  beforeAll(async () => {
    browser = await launch()
    demo = await openDemo(browser)
  }, DEMO_MS)
  afterAll(() => browser?.close())

  test(`takes at most ${MAX_TAPS} taps and ${MAX_FIELDS} field`, { timeout: WAIT_MS + 60_000 }, async () => {
    const receiver = await openReceiver()
    const { context, page } = await visit(browser, demo.base, 'phone')
    onTestFinished(async () => {
      await removeChannels(context)
      await context.close()
    })
    await context.addCookies(demo.cookies)
    await page.goto('/')
    let [taps, fields] = [0, 0]
    const tap = async (element: Locator): Promise<void> => {
      taps += 1
      await element.tap()
    }
    const fill = async (element: Locator, text: string): Promise<void> => {
      fields += 1
      await element.fill(text)
    }
    const button = (name: string | RegExp) =>
      page.getByRole('button', { name, exact: typeof name === 'string' })
    await tap(button(/^More(: |$)/))
    await tap(page.getByRole('link', { name: 'Settings' }))
    taps += 2
    await page.locator('.sections-pick select').selectOption('alerts')
    await tap(button('Add channel'))
    await tap(button(/^JSON/))
    await fill(page.getByLabel('URL'), receiver.url)
    await tap(button('Add and send a test'))
    await page.getByText('The provider accepted the message').waitFor()
    expect(taps).toBeLessThanOrEqual(MAX_TAPS)
    expect(fields).toBeLessThanOrEqual(MAX_FIELDS)
    // At night a message waits for the morning, so the test ends the quiet hours.
    await page.getByLabel('Keep quiet at these times').click()
    await button('Save').click()
    expect(receiver.titles[0]).toMatch(/^🔔/)
    // The demo sells something every few minutes, at random. alerts.test.ts covers the message about a sale.
    if (!isLong) return
    await expect
      .poll(() => receiver.titles.slice(1), { timeout: WAIT_MS })
      .toContainEqual(expect.stringMatching(/^\p{Extended_Pictographic}/u))
  })
})
