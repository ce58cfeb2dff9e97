import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { openTestLedger } from '../../metrics/test_ledger.ts'
import { nonEmpty } from '../../non_empty.ts'
import { hasChromium, type Light, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

const DAYS = 'range=custom&from=2026-03-01&to=2026-06-01'

describe.skipIf(!hasChromium())('refunds', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /**
   * An owner with a monthly subscription refunded on May 20, and coins refunded on May 9. `isReversed`: Apple reversed the
   * first refund. `heard_at`: when the first notification arrived.
   */
  async function enter({
    size = 'desktop',
    light = 'light',
    isReversed = false,
    heard_at,
  }: {
    size?: Size
    light?: Light
    isReversed?: boolean
    heard_at?: number
  } = {}) {
    const { app, notifyTransaction } = await openTestLedger(heard_at === undefined ? {} : { heard_at })
    const coins = { type: 'Consumable', productId: 'com.example.lantern.coins', price: 1_990 }
    const back = (on: string, revocationReason: number) => ({
      revocationDate: Date.parse(`${on}T12:00:00Z`),
      signedDate: Date.parse(`${on}T12:00:00Z`),
      revocationReason,
    })
    await notifyTransaction('1', 0, '2026-05-05', '2026-06-05')
    await notifyTransaction('2', 0, '2026-05-05', null, coins, {}, 'ONE_TIME_CHARGE')
    await notifyTransaction('2', 0, '2026-05-05', null, { ...coins, ...back('2026-05-09', 0) }, {}, 'REFUND')
    await notifyTransaction('1', 0, '2026-05-05', '2026-06-05', back('2026-05-20', 1), {}, 'REFUND')
    await notifyTransaction('3', 0, '2026-05-05', '2026-06-05')
    const later = { signedDate: Date.parse('2026-05-22T12:00:00Z') }
    if (isReversed) await notifyTransaction('1', 0, '2026-05-05', '2026-06-05', later, {}, 'REFUND_REVERSED')
    const user = { appUserId: 'user-1', bundleId: BUNDLE }
    await app.post('/api/sdk/v1/identify', { ...user, attributes: { name: 'Ann Müller' } })
    await app.post('/api/sdk/v1/attribute', { ...user, originalTransactionId: '1000' })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, size, light)
  }

  const rows = (page: Page) => page.getByRole('region', { name: 'Refunds' }).locator('tbody tr')

  const cardOf = (page: Page, title: string) =>
    page.locator('section.card', { has: page.getByRole('heading', { name: title }) })

  test('the view lists refunds with reason and effect on MRR, in either order', async () => {
    const { page, complaints } = await enter()
    await show(page, '/')
    await page.getByRole('link', { name: 'Refunds', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor()
    await show(page, `/refunds?${DAYS}`)
    await page.getByText('2 refunds, $11.98 gross').waitFor()
    expect(await rows(page).allInnerTexts()).toEqual([
      expect.stringMatching(/May 20.*Ann Müller.*Issue with the app.*\$9\.99.*-\$9\.99$/s),
      expect.stringMatching(/May 9.*Anonymous · cus_.*Other.*\$1\.99.*\$0\.00$/s),
    ])
    for (const title of ['By reason', 'By product', 'Refunds in the range']) {
      await cardOf(page, title).getByRole('button', { name: 'Export' }).click()
      const link = page.getByRole('link', { name: 'CSV', exact: true })
      const csv = await page.context().request.get((await link.getAttribute('href')) ?? '')
      expect([title, csv.status(), (await csv.text()).trim().split('\r\n').length]).toEqual([title, 200, 3])
      await page.keyboard.press('Escape')
    }
    await page.getByRole('button', { name: 'MRR', exact: true }).click()
    await page.waitForURL(/sort=mrr/)
    await assertSound(page)
    await storePicture(page, 'refunds')
    expect(complaints).toEqual([])
  })

  test('reversals are counted apart from refunds, as the table lists them', async () => {
    const { page } = await enter({ isReversed: true })
    await show(page, `/refunds?${DAYS}`)
    await page.getByText('2 refunds and 1 reversal, $1.99 gross').waitFor()
    expect(await rows(page).count()).toBe(3)
    const byReason = page.getByRole('region', { name: 'By reason' })
    expect(await byReason.getByRole('columnheader').allInnerTexts()).toEqual([
      'Reason',
      'Refunds',
      'Reversed',
      'Amount',
      'MRR',
    ])
    // Apple’s newest version of a purchase whose refund was reversed shows no reason.
    const notGiven = byReason.locator('tbody tr', { hasText: 'Not given' })
    expect((await notGiven.locator('td').allInnerTexts()).slice(0, 2)).toEqual(['1', '1'])
    await assertSound(page)
  })

  test('the view fits a phone, in the dark', async () => {
    const { page } = await enter({ size: 'phone', light: 'dark' })
    await show(page, `/refunds?${DAYS}`)
    await rows(page).first().waitFor()
    // Each row is a card, so that no column is out of sight.
    for (const table of nonEmpty(await page.locator('.table-wrap').all()))
      expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
    await assertSound(page)
    await storePicture(page, 'refunds_phone')
  })

  test('a range without refunds says so', async () => {
    const { page } = await enter()
    await show(page, '/refunds?range=custom&from=2026-03-01&to=2026-03-31')
    await cardOf(page, 'Refunds in the range').getByText('No refunds in these days').waitFor()
    expect(await page.getByText('No refunds in these days').count()).toBe(3)
    await assertSound(page)
  })

  test('days before the first notification are not said to have no refunds', async () => {
    const { page, complaints } = await enter({ heard_at: Date.parse('2026-05-15T12:00:00Z') })
    const list = cardOf(page, 'Refunds in the range')
    await show(page, '/refunds?range=custom&from=2026-03-01&to=2026-03-31')
    const why = /Mar 1, 2026 – Mar 31, 2026: Apple’s notifications began later/
    await list.getByText(why).waitFor()
    expect(await list.getByText('The refunds of these days are not known').count()).toBe(1)
    await show(page, '/refunds?range=custom&from=2026-05-12&to=2026-05-18')
    await list.getByText('No known refunds in these days').waitFor()
    expect(await page.getByText('Apple refunded no purchase').count()).toBe(0)
    // The refund of May 9 is listed, and not in the sums.
    await show(page, '/refunds?range=custom&from=2026-05-01&to=2026-05-31')
    await list.getByText('On the days that are known: 1 refund, $9.99 gross').waitFor()
    await list.getByText(/May 1, 2026 – May 15, 2026: Apple’s notifications began later/).waitFor()
    expect(await rows(page).count()).toBe(2)
    await assertSound(page)
    await storePicture(page, 'refunds_unknown_days')
    expect(complaints).toEqual([])
  })

  test('the feed and the event say what MRR lost', async () => {
    const { page } = await enter()
    await show(page, '/events')
    const row = page.locator('.happened', { hasText: 'MRR -$9.99' })
    await row.waitFor()
    await storePicture(page, 'refund_events')
    await row.locator('a').first().click()
    await page.getByText('-$9.99 · Refunded · from $9.99 to $0.00').waitFor()
    await storePicture(page, 'refund_event')
  })
})
