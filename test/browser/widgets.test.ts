import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WIDGET_METRICS, type WidgetFigures } from '../../src/alerts/widgets/figures.ts'
import { scriptableScript } from '../../src/alerts/widgets/scriptable.ts'
import { badgeSvg, widgetSvg } from '../../src/alerts/widgets/svg.ts'
import { widgetJson } from '../../src/alerts/widgets/texts.ts'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
import { runScript } from '../alerts/widgets/scriptable.ts'
import { pageOf } from '../alerts/widgets/scriptable_picture.ts'
import { handClock } from '../helpers.ts'
import { accessibilityViolations, hasChromium, type Light, launch, type Size } from './chromium.ts'
import { storePicture, visitAsOwner } from './owned.ts'
import { scrollsSideways, show } from './views.ts'

/** Whether all of an element can be seen within its dialog. */
const isInSight = (element: Locator): Promise<boolean> =>
  element.evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect()
    const edge = one.closest('dialog')?.getBoundingClientRect()
    return edge !== undefined && top >= edge.top && bottom <= edge.bottom
  })

const LONG = 'Grønlandsk & Søn, Aktieselskab for lange navne'
const FAMILIES = ['small', 'medium', 'large', 'accessoryRectangular', 'accessoryCircular', 'accessoryInline']

/** A widget with long texts, in a currency with large amounts. */
const figuresIn = (currency: string): WidgetFigures => ({
  name: currency === 'JPY' ? '株式会社とても長い名前のアプリ開発販売サービス東京本社' : LONG,
  currency,
  time_zone: 'Asia/Jakarta',
  updated_at: Date.UTC(2026, 5, 2, 3),
  is_stale: false,
  figures: WIDGET_METRICS.map(({ name, title }, index) => ({
    name,
    title,
    is_money: index < 4,
    value: 98_765_432_100_000 / 10 ** index,
    before: index === 0 ? null : 100_000_000_000,
    spark: Array.from({ length: 30 }, (_, day) => (day === 9 ? null : (day * 7) % 11)),
  })),
})

describe.skipIf(!hasChromium())('widgets', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function opened(size: Size, light: Light, currency: string) {
    const env = {
      WINDFALL_ORGANIZATIONS: `[{ slug = "default", name = "${LONG}", currency = "${currency}" }]`,
    }
    const app = await openAlertingApp({ clock: handClock(Date.now()), env })
    await purchase({ app, transaction: { price: 98_765_432_000, currency } })
    await app.windfall.metrics.whenCurrent()
    const { page, complaints } = await visitAsOwner(browser, app, size, light)
    return { app, page, complaints }
  }

  test.each([
    ['light', 'IDR'],
    ['dark', 'JPY'],
  ] as const)('no text leaves the pictures of the script and of SVG, %s, in %s', async (light, currency) => {
    const context = await browser.newContext({ colorScheme: light, deviceScaleFactor: 2 })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const figures = figuresIn(currency)
    const body = widgetJson(figures, 'https://windfall.example.com')
    const script = scriptableScript('https://windfall.example.com/widget/v1.json', 'wd_00')
    const drawn = await Promise.all(
      FAMILIES.map(async (family) => {
        const answer = { status: 200, body }
        return [family, await runScript(script, { family, answer, files: new Map() })] as const
      }),
    )
    await page.setContent(pageOf(drawn, light))
    await storePicture(page, `widgets_script_${light}_${currency}`)
    // Only names may be cut, and nothing is below the edge of its widget.
    expect(
      await page.evaluate<string[]>(
        `[...document.querySelectorAll('.one')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`,
      ),
    ).toEqual(expect.not.arrayContaining([expect.stringMatching(/\d/)]))
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.widget')].filter((one) => one.scrollHeight > one.clientHeight).map((one) => one.title)`,
      ),
    ).toEqual([])
    const pictures = [widgetSvg(figures), ...figures.figures.map((figure) => badgeSvg(figure, currency))]
    const images = pictures.map((svg) => `<img src="data:image/svg+xml,${encodeURIComponent(svg)}">`)
    await page.setContent(`<body style="background:#889">${images.join('<br>')}`)
    await storePicture(page, `widgets_svg_${light}_${currency}`)
    await page.setContent(pictures.join('<br>'))
    expect(
      await page.evaluate<string[]>(`[...document.querySelectorAll('svg')].flatMap((svg) => {
        const { left, right } = svg.getBoundingClientRect()
        return [...svg.querySelectorAll('text')]
          .filter((text) => text.getBoundingClientRect().left < left || text.getBoundingClientRect().right > right)
          .map((text) => text.textContent)
      })`),
    ).toEqual([])
  })

  test.each([
    ['phone', 'dark', 'IDR'],
    ['desktop', 'light', 'JPY'],
  ] as const)('on a %s, %s, in %s', async (size, light, currency) => {
    const { app, page, complaints } = await opened(size, light, currency)
    const picture = (name: string) => storePicture(page, `widgets_${size}_${name}`)
    await show(page, '/settings/widgets')
    await page.getByText('No widgets yet').waitFor()
    await page.getByRole('button', { name: 'Add widget' }).click()
    const dialog = page.getByRole('dialog')
    expect(await accessibilityViolations(page)).toEqual([])
    const add = dialog.getByRole('button', { name: 'Add', exact: true })
    // The form is longer than a phone, and its button is in sight all the same.
    expect(await isInSight(add)).toBe(true)
    await picture('form')
    await add.click()
    await dialog.getByRole('img', { name: 'QR code' }).waitFor()
    await dialog.locator('summary').click()
    expect(await dialog.locator('.script pre').textContent()).toContain('/widget/v1.json')
    await dialog.getByText('Only this machine reaches http://127.0.0.1').waitFor()
    expect(await dialog.getByText('sensor:').textContent()).toContain('- name: Windfall Subscribers')
    expect(await accessibilityViolations(page)).toEqual([])
    await picture('guide')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Widget · never used').waitFor()
    await page.locator('.widget-home.large').getByText('Trials').waitFor()
    // No text is wider than its widget.
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.widget-home')].filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).length`,
      ),
    ).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await scrollsSideways(page)).toBe(false)
    await picture('list')

    await page.getByRole('button', { name: 'Add widget' }).click()
    await dialog.getByRole('button', { name: 'Badge' }).click()
    expect(await dialog.getByRole('radio', { name: 'MRR', exact: true }).isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByRole('img', { name: 'MRR' }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Remove Phone' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.locator('.widget-home').first().waitFor({ state: 'detached' })
    expect(app.windfall.alerts.widgets.tokens.list().map(({ kind }) => kind)).toEqual(['badge'])
    expect(complaints).toEqual([])
  })
})
