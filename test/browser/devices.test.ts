/** Settings, Devices, and labels on the pages of customers and events, in a real browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { APPLE_ID, BUNDLE } from '../apple/samples.ts'
import { APP, authority, openAttested } from '../attribution/devices/enrolled.ts'
import { hasChromium, launch } from './chromium.ts'
import { assertSound, storePicture, visitAsOwner } from './owned.ts'
import { show } from './views.ts'

const DAY = 86_400_000
const OTHER = {
  ...APP,
  bundle_id: 'com.example.a.rather.long.bundle.id',
  apple_id: 2,
  name: 'Lantern for iPad',
}
const DETAILS = new Map<string, string | Uint8Array>([
  ['apple_bundle_version_01', '2026.11.23-beta.4'],
  ['apple_validation_category_01', Uint8Array.of(2, 0, 0, 0)],
])

describe.skipIf(!hasChromium())('devices', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** Calls of ten days, more and more of them verified. */
  async function openUsed() {
    const opened = await openAttested({
      apps: [{ ...APP, name: 'Lantern' }, OTHER],
      env: { WINDFALL_RATES_FETCH: 'false' },
    })
    const { attribute, clock, enrol, identify, signed } = opened
    const token = await enrol(authority.device(APP), { details: DETAILS })
    await enrol()
    for (let n = 0; n < 100; n += 1) {
      const reason = n % 2 === 0 ? { 'x-windfall-unattested': 'unsupported' } : {}
      await identify(n % 10 < n / 10 ? token : null, 'ada@example.com', {}, reason)
      clock.turn(DAY / 10)
    }
    for (let n = 0; n < 10; n += 1) {
      const id = String(2_000_000 + n)
      await attribute(token, 'ada@example.com', id, n % 2 === 0 ? { jws: await signed(id) } : {})
      clock.turn(DAY / 10)
    }
    return opened
  }

  test('shows the labels of calls, the forecast and the devices, on a phone and a desktop, and revokes one', async () => {
    const { app, devices } = await openUsed()
    for (const [size, light] of [
      ['desktop', 'light'],
      ['phone', 'dark'],
    ] as const) {
      const { page, complaints } = await visitAsOwner(browser, app, size, light)
      await show(page, '/settings/devices')
      await page.getByText('of identify calls are verified').waitFor()
      await page.getByText('sdk_auth = "attestation"').waitFor()
      await page.getByText('TestFlight, build 2026.11.23-beta.4').waitFor()
      await assertSound(page)
      await storePicture(page, `devices-${size}`)
      await page.getByRole('button', { name: 'Links' }).click()
      await page.getByText('of attribute calls left a verified link').waitFor()
      await page.getByRole('button', { name: 'View as table' }).click()
      await page.getByRole('columnheader', { name: 'Day (UTC)' }).waitFor()
      await assertSound(page)
      expect(complaints).toEqual([])
      if (size === 'desktop') {
        await page.getByRole('button', { name: 'Revoke' }).first().click()
        await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
        await page.getByText('Revoked', { exact: true }).waitFor()
        expect(devices().filter(({ revoked_at }) => revoked_at !== null)).toHaveLength(1)
      }
    }
  })

  test('an instance without calls says what to do', async () => {
    const { app } = await openAttested({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }] })
    const { page, complaints } = await visitAsOwner(browser, app, 'phone')
    await show(page, '/settings/devices')
    await page.getByRole('heading', { name: 'No devices yet' }).waitFor()
    await page.getByText('No calls in the last seven days.').waitFor()
    await assertSound(page)
    await storePicture(page, 'devices-empty')
    expect(complaints).toEqual([])
  })

  test('the profile lists the devices of a user; customers and events have a filter by label', async () => {
    const { app } = await openUsed()
    const { page, complaints } = await visitAsOwner(browser, app, 'desktop')
    await show(page, '/customers?label=verified')
    await page
      .getByRole('link', { name: /ada@example\.com/ })
      .first()
      .click()
    await page.getByText('1 attested device').click()
    await page.getByText('TestFlight, build 2026.11.23-beta.4').waitFor()
    await assertSound(page)
    await storePicture(page, 'devices-profile')
    await show(page, '/customers?label=none')
    await page.getByRole('button', { name: 'Show all labels' }).waitFor()
    await assertSound(page)
    await storePicture(page, 'devices-customers')
    await show(page, '/events?label=unverified')
    await page.getByText('Unverified').first().waitFor()
    await page.getByRole('button', { name: 'Clear' }).waitFor()
    await assertSound(page)
    await storePicture(page, 'devices-events')
    expect(complaints).toEqual([])
  })

  test('an event says its label, proofs and why the call was not attested; one whose user was erased stays readable', async () => {
    const { app, send, signed } = await openAttested({ env: { WINDFALL_RATES_FETCH: 'false' } })
    const purchase = { bundleId: BUNDLE, originalTransactionId: '1001' }
    const simulator = { 'x-windfall-unattested': 'simulator' }
    const proved = { ...purchase, appUserId: 'ada', jws: await signed('1001') }
    await send('/api/sdk/v1/attribute', proved)
    await send('/api/sdk/v1/attribute', { ...purchase, appUserId: 'bob' }, simulator)
    const { page, complaints } = await visitAsOwner(browser, app, 'desktop')
    const owner = await app.signIn()
    const read = await app.request('/api/v1/events?type=customer.moved', { headers: owner })
    const { events } = (await read.json()) as { events: { id: string }[] }
    await show(page, `/events/${events[0]?.id}`)
    for (const text of ['Unverified', 'Signed purchase', 'Simulator'])
      await page.getByText(text, { exact: true }).first().waitFor()
    await assertSound(page)
    const authorization = `Bearer ${await app.key('secret')}`
    const path = `/api/v1/users/bob?app=${BUNDLE}`
    const erased = await app.request(path, { method: 'DELETE', headers: { authorization } })
    expect(erased.ok).toBe(true)
    await show(page, '/events')
    await page.getByText('Purchase moved to another user').first().waitFor()
    await show(page, `/events/${events[0]?.id}`)
    await page.getByText('Erased Unverified', { exact: true }).waitFor()
    await assertSound(page)
    expect(complaints).toEqual([])
  })
})
