/** Settings, Security: who called in the last 24 hours, and what was refused. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { openTestApp } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'

let browser: Browser
const inBrowser = test.skipIf(!hasChromium())
beforeAll(async () => {
  if (hasChromium()) browser = await launch()
})
afterAll(() => browser?.close())

inBrowser.each(['phone', 'desktop'] as const)('shows on a %s what was refused, and to whom', async (size) => {
  const app = await openTestApp()
  for (let n = 0; n < 70; n += 1) {
    const headers = { 'x-forwarded-for': '2001:db8:1234:5678::1', authorization: 'Bearer pk_live_x' }
    await app.post('/api/sdk/v1/identify', { appUserId: 'ada', bundleId: BUNDLE }, headers)
  }
  const headers = { authorization: `Bearer ${await app.key('secret')}` }
  await app.post('/api/sdk/v1/identify', { appUserId: 'ada', bundleId: BUNDLE }, headers)
  const { page, complaints } = await visitAsOwner(browser, app, size)
  await page.goto('/settings/security')
  await page.getByRole('row', { name: 'Wrong key (SDK calls) 60' }).waitFor()
  await page.getByRole('row', { name: 'Rate limit of an address (SDK calls) 10' }).waitFor()
  await page.getByRole('row', { name: '2001:db8:1234::/48 70' }).waitFor()
  await page.getByRole('row', { name: '2001:db8:1234:5678::/64 70' }).waitFor()
  await page.getByText('100.0% of 1 admitted SDK call came with proof').waitFor()
  await page.getByText('A restart forgets these numbers.').waitFor()
  await page.getByText('By hour').click()
  await page.getByRole('columnheader', { name: 'Hour' }).waitFor()
  await assertSound(page)
  await storePicture(page, `callers-${size}`)
  expect(complaints).toEqual([])
})

inBrowser('says that nothing was refused', async () => {
  const app = await openTestApp()
  const { page, complaints } = await visitAsOwner(browser, app, 'phone')
  await page.goto('/settings/security')
  await page.getByText('Nothing was refused.').waitFor()
  await page.getByText('No SDK calls.').waitFor()
  await assertSound(page)
  expect(complaints).toEqual([])
})
