/** The customers of webhook deliveries: named in the log, and searched for. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { purchase } from '../../alerts/alerting.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

describe.skipIf(!hasChromium())('the customers of deliveries', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('the log names them with their products, and a search finds their deliveries', async () => {
    const receiver = await openHttpReceiver()
    const app = await openForwardingApp({ clock: handClock(Date.now()) })
    const { endpoint } = await app.addEndpoint(receiver.url)
    for (const originalTransactionId of ['1001', '1002']) {
      const ids = { transactionId: originalTransactionId, originalTransactionId }
      const transaction = { ...ids, appTransactionId: `70400${originalTransactionId}` }
      await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction })
    }
    const ann = { appUserId: 'user_1', bundleId: BUNDLE }
    await app.post('/api/sdk/v1/identify', { ...ann, attributes: { name: 'Ann Müller' } })
    await app.post('/api/sdk/v1/attribute', { ...ann, originalTransactionId: '1001' })
    await app.settled()
    await app.windfall.metrics.whenCurrent()
    const { page, complaints } = await visitAsOwner(browser, app, 'desktop')
    await show(page, `/settings/webhooks/${endpoint.id}`)
    const started = page.locator('.delivery', { hasText: 'New subscription' })
    const titles = () => started.locator('.delivery-title').allInnerTexts()
    await expect
      .poll(titles)
      .toEqual([
        expect.stringMatching(/Lantern Pro Monthly\s+Anonymous · cus_/),
        expect.stringMatching(/Lantern Pro Monthly\s+Ann Müller/),
      ])
    await storePicture(page, 'deliveries-customers')
    await assertSound(page)
    await page.getByRole('searchbox', { name: 'Customer' }).fill('ann m')
    await expect.poll(() => started.count()).toBe(1)
    await started.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Lantern Pro Monthly').waitFor()
    await dialog.getByRole('link', { name: 'Ann Müller' }).click()
    await page.getByRole('heading', { name: 'Ann Müller', level: 1 }).waitFor()
    expect(complaints).toEqual([])
  })
})
