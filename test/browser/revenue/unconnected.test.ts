/** The owner sees the money of apps that are not connected; guests do not. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY } from '../../ledger/reports/samples.ts'
import { BEFORE, openVendor } from '../../ledger/reports/unconnected_vendor.ts'
import { hasChromium, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsGuest, visitAsOwner } from '../owned.ts'
import { settled, show } from '../views.ts'

const LINE = /^Not connected: Kelp, /

describe.skipIf(!hasChromium())('money of apps that are not connected', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test.each<Size>(['desktop', 'phone'])(
    'is shown beside the revenue and the coverage, on a %s',
    async (size) => {
      const { page, complaints } = await visitAsOwner(browser, await openVendor(), size)
      await show(page, `/revenue?range=custom&from=${BEFORE}&to=${BEFORE}`)
      await page.getByText('Not connected: Kelp, $6.00. Apple’s reports').waitFor()
      await assertSound(page)
      await storePicture(page, `unconnected-revenue-${size}`)
      await show(page, `/revenue?range=custom&from=${BEFORE}&to=${DAY}`)
      await page.getByText('Not connected: Kelp, $15.99 + SEK').waitFor()
      await show(page, '/coverage')
      await page.getByText('Not connected: Kelp, $15.99 + SEK').waitFor()
      await assertSound(page)
      await storePicture(page, `unconnected-coverage-${size}`)
      expect(complaints).toEqual([])
    },
  )

  test('is not shown to guests, nor beside the revenue of one app', async () => {
    const app = await openVendor()
    const guest = await visitAsGuest(browser, app, 'desktop')
    await show(guest.page, `/revenue?range=custom&from=${BEFORE}&to=${DAY}`)
    await settled(guest.page)
    expect(await guest.page.getByText(LINE).count()).toBe(0)
    const [lantern] = app.windfall.apps.list()
    const { page } = await visitAsOwner(browser, app, 'desktop')
    await show(page, `/revenue?app=${lantern?.bundle_id}&range=custom&from=${BEFORE}&to=${DAY}`)
    await settled(page)
    expect(await page.getByText(LINE).count()).toBe(0)
  })
})
