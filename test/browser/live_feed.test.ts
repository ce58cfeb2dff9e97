/** The live feed of a page that stays open for long. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openForwardingApp } from '../forwarding/receiving.ts'
import { handClock } from '../helpers.ts'
import { hasChromium, launch } from './chromium.ts'
import { visitAsOwner } from './owned.ts'

/** The rows that a page keeps. */
const MOST = 300
const BATCH = 60

describe.skipIf(!hasChromium())('the live feed', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('frees the rows that newer ones push out', async () => {
    const app = await openForwardingApp({ clock: handClock(Date.now()) })
    const { page } = await visitAsOwner(browser, app, 'desktop')
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    const rows = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')

    /** Appends events, and waits until the page shows them. */
    async function happen(batch: number): Promise<void> {
      const data = () => ({ product_id: `${app.organization.id}.batch_${batch}` })
      await app.append(BATCH, { type: 'subscription.renewed', data })
      await expect.poll(() => rows.first().innerText(), { timeout: 10_000 }).toContain(`Batch ${batch}`)
    }

    async function nodes(): Promise<number> {
      await devtools.send('HeapProfiler.collectGarbage')
      const { metrics } = await devtools.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'Nodes')?.value ?? 0
    }

    await page.goto('/')
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
    let batch = 0
    for (; (await rows.count()) < MOST; batch += 1) await happen(batch)
    const before = await nodes()
    for (const last = batch + 6; batch < last; batch += 1) await happen(batch)
    expect(await rows.count()).toBe(MOST)
    // Each row has more than ten nodes.
    expect((await nodes()) - before).toBeLessThan(5 * BATCH)
  })
})
