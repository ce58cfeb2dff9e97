import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../alerts/alerting.ts'
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

describe.skipIf(!hasChromium())('widgets', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function opened(size: Size, light: Light, currency: string) {
    const env = {
      WINDFALL_ORGANIZATIONS: `[{ slug = "default", name = "Grønlandsk & Søn, Aktieselskab for lange navne", currency = "${currency}" }]`,
    }
    const app = await openAlertingApp({ clock: handClock(Date.now()), env })
    await purchase({ app, transaction: { price: 98_765_432_000, currency } })
    await app.windfall.metrics.whenCurrent()
    const { page, complaints } = await visitAsOwner(browser, app, size, light)
    return { app, page, complaints }
  }

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
