import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, visitAsOwner } from '../owned.ts'
import { settled, show, VIEWS } from '../views.ts'

const notice = (page: Page) => page.locator('.notice.unused')

describe.skipIf(!hasChromium())('what a view leaves out of its address', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function enter() {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    await purchase({ app, type: 'SUBSCRIBED' })
    await app.windfall.metrics.whenCurrent()
    return visitAsOwner(browser, app, 'desktop')
  }

  test('every view names an unknown parameter and a wrong value', async () => {
    const { page, complaints } = await enter()
    for (const [path] of VIEWS) {
      await show(page, `${path}?nonsense=1&range=ever&basis=proceeds`)
      expect(await notice(page).locator('code').allTextContents(), path).toEqual(['nonsense', 'range=ever'])
    }
    await show(page, '/customers')
    await page.locator('.people a').first().click()
    await page.getByRole('heading', { level: 1, name: /cus_/ }).waitFor()
    await show(page, `${page.url()}?story=gossip`)
    expect(await notice(page).locator('code').allTextContents()).toEqual(['story=gossip'])
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test('the notice takes them out of the address and leaves the rest', async () => {
    const { page } = await enter()
    await show(page, '/revenue?nonsense=1&interval=hour&basis=proceeds&revenue.as=table')
    await notice(page).getByRole('button', { name: 'Remove' }).click()
    await notice(page).waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?basis=proceeds&revenue.as=table')
    await page.locator('h1:focus').waitFor()
  })

  test('what the controls of a view write, it uses', async () => {
    const { page } = await enter()
    for (const path of ['/revenue', '/refunds', '/subscriptions', '/retention', '/metrics/revenue']) {
      await show(page, path)
      for (const name of ['View as table', 'Growth', 'Years', 'This week', 'Amount']) {
        const buttons = page.getByRole('button', { name, exact: true })
        while ((await buttons.and(page.locator(':not([aria-pressed=true])')).count()) > 0) {
          await buttons.and(page.locator(':not([aria-pressed=true])')).first().click()
          await settled(page)
        }
      }
      expect(new URL(page.url()).search, path).not.toBe('')
      expect(await notice(page).count(), path).toBe(0)
    }
  })
})
