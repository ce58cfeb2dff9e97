/** The waterfall of MRR starts with MRR at the end of the day before the range, which can be unknown. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

const NOW = Date.parse('2026-11-25T20:00:00Z')

describe.skipIf(!hasChromium())('the waterfall of MRR', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** The rows of the waterfall of this month: title and MRR. Each day of `bought` has a subscription of $4.99 a month. */
  async function rowsOf(bought: readonly string[], heard: string) {
    const app = await openAlertingApp({ clock: handClock(NOW), heard_at: Date.parse(heard) })
    for (const on of bought) {
      const at = Date.parse(`${on}T12:00:00Z`)
      const expiresDate = new Date(at).setUTCMonth(new Date(at).getUTCMonth() + 1)
      const times = { purchaseDate: at, originalPurchaseDate: at, signedDate: at, expiresDate }
      await purchase({ app, type: 'SUBSCRIBED', transaction: times, signed_at: at })
    }
    await app.windfall.metrics.whenCurrent()
    const { page, complaints } = await visitAsOwner(browser, app, 'desktop')
    await show(page, '/subscriptions?range=month')
    await assertSound(page)
    expect(complaints).toEqual([])
    const rows = await page.locator('table.waterfall tbody tr').all()
    return Promise.all(
      rows.map(async (row) => [
        await row.locator('th').innerText(),
        await row.locator('td.number').first().innerText(),
        await row.locator('rect').count(),
      ]),
    )
  }

  test('starts with MRR at the end of the day before the first day', async () => {
    const rows = await rowsOf(['2026-10-27', '2026-10-30', '2026-11-10'], '2025-01-01')
    expect(rows).toEqual([
      ['MRR on Oct 31', '$9.98', 1],
      ['New', '+$4.99', 1],
      ['MRR now', '$14.97', 1],
    ])
  })

  test('says that the start is unknown where nothing was heard by then', async () => {
    const rows = await rowsOf(['2026-11-12'], '2026-11-10')
    expect(rows[0]).toEqual(['MRR on Oct 31', 'unknown', 0])
    expect(rows.at(-1)).toEqual(['MRR now', '$4.99', 1])
  })
})
