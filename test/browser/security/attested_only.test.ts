/** Settings, Security: accepting only attested devices for a day. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { APP, openAttested } from '../../attribution/devices/enrolled.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'

const OTHER = { ...APP, bundle_id: 'com.example.other', apple_id: 2, name: 'Lantern for iPad' }

let browser: Browser
const inBrowser = test.skipIf(!hasChromium())
beforeAll(async () => {
  if (hasChromium()) browser = await launch()
})
afterAll(() => browser?.close())

inBrowser.each(['phone', 'desktop'] as const)(
  'says on a %s whom it refuses, turns on until tomorrow, and ends earlier',
  async (size) => {
    const opened = await openAttested({
      apps: [{ ...APP, name: 'Lantern', android_package: 'droid' }, OTHER],
    })
    const { app, enrol, identify } = opened
    await identify(await enrol(), 'ada')
    await identify(null, 'grace')
    const { page, complaints } = await visitAsOwner(browser, app, size)
    await page.goto('/settings/security')
    await page.getByText('Off. Calls without proof are accepted.').waitFor()
    await page.getByRole('button', { name: 'Start for Default' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .locator('.warn', { hasText: 'Of 2 calls yesterday and today (UTC), 1 came without proof.' })
      .waitFor()
    await dialog
      .getByText('Lantern for iPad has no attested device. All its clients will be refused.')
      .waitFor()
    await dialog.getByText('Those of Lantern will be refused.').waitFor()
    await assertSound(page)
    await storePicture(page, `attested-only-asked-${size}`)
    await dialog.getByRole('button', { name: 'Start for 24 hours' }).click()
    await page.getByText(/until .*2026/).waitFor()
    await page.getByRole('cell', { name: 'Accepted only attested devices for a day' }).waitFor()
    expect(await identify(null, 'grace')).toMatchObject({ code: 'attested_only' })
    await assertSound(page)
    await storePicture(page, `attested-only-${size}`)
    await page.getByRole('button', { name: 'End now for Default' }).click()
    await page.getByText('Off. Calls without proof are accepted.').waitFor()
    expect((await identify(null, 'grace')).status).toBe(200)
    expect(complaints).toEqual([])
  },
)
