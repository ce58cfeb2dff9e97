/** What the dashboard shows of an app's Android version. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

const PACKAGE = 'com.example.lantern.android'

describe.skipIf(!hasChromium())('an app with an Android version', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function enter() {
    const app = await openAlertingApp({
      clock: handClock(Date.now()),
      apps: [{ bundle_id: BUNDLE, android_package: PACKAGE }],
    })
    for (const [appUserId, originalTransactionId] of [
      ['ann', '1001'],
      ['bob', '1002'],
    ] as const) {
      const ids = {
        transactionId: originalTransactionId,
        originalTransactionId,
        appTransactionId: `70400${originalTransactionId}`,
      }
      await purchase({ app, type: 'SUBSCRIBED', transaction: ids })
      await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
    }
    const token = { bundleId: PACKAGE, originalTransactionId: 'play.AO-J1', platform: 'android' }
    await app.post('/api/sdk/v1/attribute', { ...token, appUserId: 'ann' })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, 'desktop')
  }

  test('the page of a user counts purchases on Google Play beside the only customer', async () => {
    const { page, complaints } = await enter()
    await show(page, '/users/ann')
    await page.getByText('1 Google Play purchase is linked to this user.').waitFor()
    expect(await page.locator('.people a').count()).toBe(1)
    await assertSound(page)
    await storePicture(page, 'user-with-google-play')
    // A user with nothing else is the customer.
    await show(page, '/users/bob')
    await page.waitForURL(/\/customers\/cus_/)
    expect(complaints).toEqual([])
  })

  test('Settings, Apps names the Android package', async () => {
    const { page } = await enter()
    await show(page, '/settings')
    await page.getByText(PACKAGE, { exact: true }).waitFor()
    await assertSound(page)
    await storePicture(page, 'settings-apps-android')
  })
})
