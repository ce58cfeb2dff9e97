/** The key figures of subscriptions: churn of the last finished period, and changes of levels since the start. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

/** A Wednesday. */
const NOW = Date.parse('2026-11-25T20:00:00Z')

describe.skipIf(!hasChromium())('key figures of subscriptions', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** A page of an app with a yearly subscription of $12 since September and one of $24 since November 2. */
  async function enter() {
    const app = await openAlertingApp({ clock: handClock(NOW), heard_at: Date.parse('2025-01-01') })
    for (const [on, price] of [
      ['2026-09-10', 12_000],
      ['2026-11-02', 24_000],
    ] as const) {
      const at = Date.parse(`${on}T12:00:00Z`)
      const expiresDate = new Date(at).setUTCFullYear(2027)
      const times = { purchaseDate: at, originalPurchaseDate: at, signedDate: at, expiresDate }
      await purchase({ app, type: 'SUBSCRIBED', transaction: { ...times, price }, signed_at: at })
    }
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, 'desktop')
  }

  const figure = async (page: Page, title: string): Promise<string> =>
    (await page.locator('.key-figures .card', { hasText: title }).first().innerText()).replace(/\s+/g, ' ')

  test('churn is that of the last finished week or month of the range, and says which', async () => {
    const { page } = await enter()
    for (const [range, period] of [
      ['28d', 'week of Nov 16'],
      ['90d', 'October 2026'],
      ['last_month', 'October 2026'],
    ]) {
      await show(page, `/subscriptions?range=${range}`)
      expect([range, await figure(page, 'Churn')]).toEqual([
        range,
        expect.stringMatching(new RegExp(`0\\.0%.* ${period}`)),
      ])
    }
    await show(page, '/subscriptions?range=28d&by=month')
    expect(await figure(page, 'Churn')).toMatch(/– no finished month in these days/)
  })

  test('MRR is compared with its value before the first day', async () => {
    const { page } = await enter()
    await show(page, '/subscriptions?range=28d')
    expect(await figure(page, 'MRR')).toMatch(/\$3\.00 \+200\.0% since Oct 28, 2026/)
  })
})
