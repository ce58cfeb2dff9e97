/** A dashboard with two apps, customers and the search open. */
import type { Browser, Page } from 'playwright-core'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { handClock } from '../../helpers.ts'
import type { Light, Size } from '../chromium.ts'
import { visitAsOwner } from '../owned.ts'

const PEOPLE = [
  ['user_1', '1001', { name: 'Ann Müller', email: 'ann@example.com' }],
  ['user_2', '1002', { name: 'Annabel Martin', email: 'bob@example.com' }],
] as const

/** A Windfall with an app and two identified customers. */
export async function openPeople() {
  const app = await openAlertingApp({ clock: handClock(Date.now()) })
  for (const [appUserId, originalTransactionId, attributes] of PEOPLE) {
    const ids = { transactionId: originalTransactionId, originalTransactionId }
    const transaction = { ...ids, appTransactionId: `70400${originalTransactionId}` }
    await purchase({ app, type: 'SUBSCRIBED', transaction })
    await app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes })
    await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
  }
  await app.windfall.metrics.whenCurrent()
  return app
}

/** The owner on its dashboard. */
export const enter = async (browser: Browser, size: Size = 'desktop', light: Light = 'light') =>
  visitAsOwner(browser, await openPeople(), size, light)

export const field = (page: Page) => page.getByRole('combobox', { name: /^Search pages/ })

/** Waits until the search is gone. While it closes, when its field is hidden already, its shortcut does nothing. */
export const closed = (page: Page): Promise<void> => page.locator('.palette').waitFor({ state: 'detached' })

/** Opens the search by its shortcut, after an earlier search is gone. */
export async function openSearch(page: Page): Promise<void> {
  await closed(page)
  await page.keyboard.press('Control+k')
  await field(page).waitFor()
}

/** The titles of what is listed. */
export const found = (page: Page): Promise<string[]> =>
  page.locator('.palette [role=option] bdi.cut').allTextContents()

/** The title of the active choice, as a screen reader gets it. */
export const active = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>(
    `document.getElementById(document.activeElement?.getAttribute('aria-activedescendant') ?? '')
      ?.querySelector('.cut')?.textContent ?? null`,
  )

/** What has the focus: its label or its text. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()",
  )
