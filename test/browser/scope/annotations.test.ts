import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

describe.skipIf(!hasChromium())('annotations', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** An owner with an app that sold something. */
  async function enter(size: Size = 'desktop') {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    await purchase({ app, type: 'SUBSCRIBED', transaction: { price: 4_990 } })
    await app.windfall.metrics.whenCurrent()
    return { app, ...(await visitAsOwner(browser, app, size)) }
  }

  const rows = (page: Page): Promise<string[]> => page.locator('.section tbody td.wordy').allTextContents()

  test('added on a chart, it is in the chart’s table and tooltip, and in the settings', async () => {
    const { page, complaints } = await enter()
    await show(page, '/metrics/revenue')
    await page.getByRole('button', { name: 'Export and annotate' }).click()
    await page.getByRole('button', { name: 'Add annotation' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add annotation' })
    expect(await dialog.getByLabel('Day').inputValue()).toBe(new Date().toISOString().slice(0, 10))
    await dialog.getByLabel('Text').fill('Featured by Apple')
    await dialog.getByRole('button', { name: 'Add annotation' }).click()
    await dialog.waitFor({ state: 'detached' })
    const chart = page.getByRole('img', { name: /arrow keys/ }).first()
    await chart.focus()
    await page.keyboard.press('End')
    await page.locator('.chart-tip .note', { hasText: 'Featured by Apple' }).waitFor()
    await expect.poll(() => page.locator('.spoken[aria-live]').first().textContent()).toContain('Featured')
    await storePicture(page, 'annotated')
    await page.getByRole('button', { name: 'View as table' }).click()
    await page.locator('tbody tr').first().getByRole('cell', { name: 'Featured by Apple' }).waitFor()
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test('is listed, edited and deleted in the settings', async () => {
    const { page, app, complaints } = await enter()
    await show(page, '/settings/annotations')
    await page.getByText('No annotations yet').waitFor()
    await page.getByText('With an App Store Connect key').waitFor()
    await page.getByRole('button', { name: 'Add annotation' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Text').fill('Launch')
    await dialog.getByLabel('Day').fill('2001-01-01')
    await dialog.getByRole('button', { name: 'Add annotation' }).click()
    await dialog.getByText(/must be between 2008-01-01/).waitFor()
    await dialog.getByLabel('Day').fill('2026-02-01')
    await dialog.getByRole('button', { name: 'Add annotation' }).click()
    await expect.poll(() => rows(page)).toEqual(['Launch'])
    await page.getByRole('button', { name: 'Edit Launch' }).click()
    await dialog.getByLabel('Text').fill('Launch on Product Hunt')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => rows(page)).toEqual(['Launch on Product Hunt'])
    await assertSound(page)
    await storePicture(page, 'annotations')
    await page.getByRole('button', { name: 'Delete Launch' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No annotations yet').waitFor()
    expect(app.windfall.store.prepare('select count(*) as n from annotations').get()).toEqual({ n: 0 })
    // The day that the server refuses.
    expect(complaints).toEqual([expect.stringContaining('400')])
  })

  test('fits a phone', async () => {
    const { page, app } = await enter('phone')
    await app.windfall.store.commit(() =>
      app.windfall.annotations.add(
        app.organization.id,
        { app_id: null, annotated_on: '2026-02-01', text: 'A long text '.repeat(16).trim() },
        'owner',
      ),
    )
    await show(page, '/settings/annotations')
    await expect.poll(async () => (await rows(page)).length).toBe(1)
    await assertSound(page)
    await storePicture(page, 'annotations-phone')
  })
})
