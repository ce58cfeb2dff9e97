/** Every figure of the revenue page is of exactly the chosen days, whatever the width of the window and the interval. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dayNumber, dayText, openCalendar } from '../../../src/metrics/lineage/calendar.ts'
import { RANGE_GROUPS, rangeDays } from '../../../src/web/ui/ranges.ts'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { isLong } from '../../random.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { settled, show } from '../views.ts'

const DAYS = 800
const PACIFIC = 'America/Los_Angeles'

/** A Wednesday; the first and the last day of a month; the days after a change of clocks. */
const NOWS: readonly (readonly [name: string, now: string, zone: string])[] = [
  ['a Wednesday', '2026-11-25T20:00:00Z', PACIFIC],
  ...(isLong
    ? ([
        ['the first day of a month', '2026-10-01T20:00:00Z', 'UTC'],
        ['the last day of a month', '2026-10-31T20:00:00Z', PACIFIC],
        ['the day on which the clocks go back', '2026-11-01T20:00:00Z', PACIFIC],
        ['the day on which the clocks go forward', '2026-03-08T20:00:00Z', PACIFIC],
      ] as const)
    : []),
]

/** Those whose first or last week a range of weeks clips, those that a phone draws by week, and those of other days. */
const OFTEN_CLIPPED = ['90d', '12m', 'last_quarter', 'year', 'last_year', 'last_fiscal_month', 'all'] as const

const money = (milli: number): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(milli / 1000)
const change = (now: number, before: number): string =>
  new Intl.NumberFormat('en-US', {
    style: 'percent',
    signDisplay: 'exceptZero',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
    .format(now / before - 1)
    .replace('−', '-')
const milliOf = (text: string): number => Math.round(Number(text.replace(/[^\d.-]/g, '')) * 1000)

describe.skipIf(!hasChromium())('exact ranges', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** A sale at noon of each of the last days, each of another price, so that a day too many or too few shows. */
  async function enter(now: string, zone: string) {
    const clock = handClock(Date.parse(now))
    const app = await openAlertingApp({ clock, heard_at: clock() - (DAYS + 30) * 86_400_000 })
    const { organizations, store } = app.windfall
    await store.commit(() => organizations.setTimeZone(organizations.resolve(null), zone))
    const calendar = openCalendar(zone)
    const today = calendar.dayOf(clock())
    const sold = new Map<number, number>()
    for (let day = today - DAYS; day <= today; day += 1) {
      const price = 1_000 + 10 * (day % 97)
      sold.set(day, price)
      const at = Math.min(calendar.startOf(day) + 12 * 3_600_000, clock())
      const times = { purchaseDate: at, originalPurchaseDate: at, signedDate: at, expiresDate: undefined }
      await purchase({ app, type: 'ONE_TIME_CHARGE', transaction: { type: 'Consumable', price, ...times } })
    }
    await app.windfall.metrics.whenCurrent()
    const soldIn = (from: string, to: string): number => {
      let sum = 0
      for (let day = dayNumber(from); day <= dayNumber(to); day += 1) sum += sold.get(day) ?? 0
      return sum
    }
    return {
      ...(await visitAsOwner(browser, app, 'desktop')),
      soldIn,
      today: dayText(today),
      first: dayText(today - DAYS),
    }
  }

  const card = (page: Page) =>
    page.locator('section.card', { has: page.getByRole('heading', { name: /^Revenue/, level: 2 }) }).first()

  /** What the page says the sum is: the tile, the headline, the rows of the table, the products and the CSV. */
  async function figuresOn(page: Page) {
    const tile = page.getByRole('button', { name: /^Gross, less refunds/ }).locator('.figure')
    const exact = async (place: typeof tile) =>
      (await place.locator('.spoken').count()) > 0 ? place.locator('.spoken').innerText() : place.innerText()
    const rows = await card(page).locator('tbody tr td.number:nth-child(2)').allInnerTexts()
    await card(page)
      .getByRole('button', { name: /^Export/ })
      .click()
    const file = await page.locator('.menu:popover-open a[download]').first().getAttribute('href')
    const csv = await (await page.request.get(file ?? '')).text()
    const [head = [], ...lines] = csv
      .trim()
      .split('\r\n')
      .map((line) => line.split(','))
    const at = (name: string) => head.indexOf(name)
    const total = lines.filter((line) => line[at('part')] === '')
    const products = page.locator('section.card', { has: page.getByRole('heading', { name: /^Products/ }) })
    return {
      tile: await exact(tile),
      headline: await exact(card(page).locator('.figure-row .figure')),
      table: money(rows.reduce((sum, one) => sum + milliOf(one), 0)),
      products: await products.locator('.breakdown strong').first().innerText(),
      csv: money(total.reduce((sum, line) => sum + milliOf(line[at('amount')] ?? ''), 0)),
    }
  }

  test.each(NOWS)(
    'tile, headline, table, products and CSV are the sum of the days, on %s',
    async (_, now, zone) => {
      const { page, complaints, soldIn, today, first } = await enter(now, zone)
      // The sales are at noon, so that each is on one day of both zones.
      for (const range of isLong ? RANGE_GROUPS.flat() : OFTEN_CLIPPED) {
        const days = rangeDays(range, today, first)
        const sum = money(soldIn(days.from, days.to))
        const expected = { tile: sum, headline: sum, table: sum, products: sum, csv: sum }
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 })
          await show(page, `/revenue?range=${range}&revenue.as=table`)
          expect([range, width, await figuresOn(page)]).toEqual([range, width, expected])
        }
      }
      expect(complaints).toEqual([])
    },
    600_000,
  )

  test('a calendar range is compared with the one before, to the same day', async () => {
    const { page, soldIn } = await enter('2026-11-25T20:00:00Z', 'UTC')
    for (const [range, now, before] of [
      ['month', ['2026-11-01', '2026-11-25'], ['2026-10-01', '2026-10-25']],
      ['last_month', ['2026-10-01', '2026-10-31'], ['2026-09-01', '2026-09-30']],
      ['last_year', ['2025-01-01', '2025-12-31'], null],
      ['week', ['2026-11-23', '2026-11-25'], ['2026-11-16', '2026-11-18']],
    ] as const) {
      const inDays = ([from, to]: readonly [string, string]): number => soldIn(from, to)
      await show(page, `/revenue?range=${range}`)
      const delta = page.getByRole('button', { name: /^Gross, less refunds/ }).locator('.delta')
      if (before === null) {
        expect(await delta.count()).toBe(0)
        expect(await card(page).locator('.figure-row').innerText()).toContain('no data before')
      } else
        expect((await delta.innerText()).replace('−', '-')).toContain(change(inDays(now), inDays(before)))
    }
  })

  test('a rolling range is compared with as many days before, at every width and interval', async () => {
    // Its 90 days begin with a Monday, and a phone draws them by week.
    const { page, soldIn } = await enter('2026-11-28T20:00:00Z', 'UTC')
    const expected = change(soldIn('2026-08-31', '2026-11-28'), soldIn('2026-06-02', '2026-08-30'))
    for (const [width, by] of [
      [1440, ''],
      [390, ''],
      [1440, '&by=week'],
      [1440, '&by=month'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await show(page, `/revenue?range=90d${by}`)
      const delta = page.getByRole('button', { name: /^Gross, less refunds/ }).locator('.delta')
      const text = (await delta.innerText()).replace('−', '-').replace(/\s+/g, ' ')
      expect([width, by, text]).toEqual([width, by, `${expected} vs. Jun 2, 2026 – Aug 30, 2026`])
    }
  })

  test('a week that the range clips is hatched, and says its days', async () => {
    const { page } = await enter('2026-11-25T20:00:00Z', 'UTC')
    await show(page, '/revenue?range=last_year&by=week&revenue.as=table')
    const rows = await card(page).locator('tbody th').allInnerTexts()
    expect(rows[0]).toMatch(/^Dec 29, 2025 – Dec 31, 2025 \(part of a week\)$/)
    expect(rows.at(-1)).toMatch(/^Jan 1, 2025 – Jan 5, 2025 \(part of a week\)$/)
    await show(page, '/revenue?range=last_year&by=week')
    await settled(page)
    await assertSound(page)
    await storePicture(page, 'clipped')
    await page.setViewportSize({ width: 390, height: 844 })
    await show(page, '/subscriptions?range=last_month')
    await assertSound(page)
    await storePicture(page, 'key-figures-phone')
  })
})
