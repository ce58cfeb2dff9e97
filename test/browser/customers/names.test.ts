import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { openTestLedger } from '../../metrics/test_ledger.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

describe.skipIf(!hasChromium())('names that a caller reports', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** An owner whose customer cancels and was refunded, and whom a publishable key gave a name that shows as another one. */
  async function enter() {
    const { app, notifyTransaction } = await openTestLedger()
    await notifyTransaction('1', 0, '2026-05-05', '2026-07-05', {}, { autoRenewStatus: 0 })
    const coins = { type: 'Consumable', productId: 'com.example.lantern.coins', price: 1_990 }
    const back = { revocationDate: Date.parse('2026-05-09T12:00:00Z'), revocationReason: 0 }
    const owned = { appTransactionId: '704000001' }
    await notifyTransaction('2', 0, '2026-05-05', null, { ...coins, ...owned }, {}, 'ONE_TIME_CHARGE')
    const refunded = { ...coins, ...owned, ...back, signedDate: back.revocationDate }
    await notifyTransaction('2', 0, '2026-05-05', null, refunded, {}, 'REFUND')
    const user = { appUserId: 'user-1', bundleId: BUNDLE }
    await app.post('/api/sdk/v1/identify', { ...user, attributes: { name: '\u202enajorT gnp.exe' } })
    for (const originalTransactionId of ['1000', '2000'])
      await app.post('/api/sdk/v1/attribute', { ...user, originalTransactionId })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, 'desktop')
  }

  test('a claimed name is isolated, without characters that reorder it, and marked in each list', async () => {
    const { page, complaints } = await enter()
    for (const [list, path, label] of [
      ['.people', '/customers', 'unverified'],
      ['.refunds', '/refunds?range=custom&from=2026-03-01&to=2026-06-01', 'unverified name'],
      ['.at-risk', '/subscriptions', 'unverified'],
      ['.happened', '/events', 'unverified'],
    ] as const) {
      await show(page, path)
      const name = page.locator(list).locator('bdi').first()
      expect([path, await name.textContent()]).toEqual([path, 'najorT gnp.exe'])
      expect([path, await markOf(page, list)]).toEqual([path, label])
    }
    await show(page, '/customers')
    expect(await page.locator('.people .initial').getAttribute('data-letter')).toBe('N')
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  const markOf = (page: Page, list: string) =>
    page.locator(list).locator('bdi + .mark .spoken').first().textContent()
})
