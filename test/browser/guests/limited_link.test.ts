/** Sharing one metric: the button on its view, what the form discloses, and what the guest then sees. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch, type Size, visit } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { settled, show } from '../views.ts'

describe.skipIf(!hasChromium())('a link that is limited to some metrics', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** An owner with an app and a purchase of $4.99. */
  async function enter(size: Size = 'desktop') {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    await purchase({ app, type: 'SUBSCRIBED' })
    await app.windfall.metrics.whenCurrent()
    return { app, ...(await visitAsOwner(browser, app, size)) }
  }

  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'New share link' })
  const linkIn = async (page: Page) =>
    (
      await dialogOf(page)
        .getByText(/\/share#/)
        .first()
        .textContent()
    )?.trim() ?? ''

  /** A page that opened the link. `refused`: the requests that the server refused. */
  async function openAsGuest(link: string, size: Size = 'desktop') {
    const guest = await visit(browser, new URL(link).origin, size)
    onTestFinished(() => guest.context.close())
    const refused: string[] = []
    guest.page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
    })
    await guest.page.goto(link)
    await guest.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await settled(guest.page)
    return { ...guest, refused }
  }

  test('the owner shares a metric from its page, and sees first what follows from it', async () => {
    const { app, page, complaints } = await enter()
    await show(page, '/metrics/mrr')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = dialogOf(page)
    expect(await dialog.getByRole('checkbox', { name: 'MRR', exact: true }).isChecked()).toBe(true)
    await dialog.getByText('ARR from MRR (MRR × 12)').waitFor()
    await dialog.getByRole('searchbox', { name: 'Search metrics' }).fill('active sub')
    expect(await dialog.getByRole('checkbox', { name: 'MRR', exact: true }).count()).toBe(0)
    await dialog.getByRole('checkbox', { name: 'Active subscriptions' }).click()
    await dialog.getByText('MRR per subscription').waitFor()
    await dialog.getByRole('searchbox').fill('')
    await storePicture(page, 'share-dialog')
    await assertSound(page)
    await dialog.getByLabel('Name').fill('Co-founder')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    expect(await linkIn(page)).toContain('/share#')
    expect(app.windfall.links.list()).toMatchObject([
      { label: 'Co-founder', metrics: ['mrr', 'active_subscriptions'] },
    ])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await show(page, '/settings/guests')
    await page.getByText('MRR, Active subscriptions').waitFor()
    expect(complaints).toEqual([])
  })

  test.each(['desktop', 'phone'] as const)(
    'the guest sees these metrics on every page of the link, and nothing is broken, on a %s',
    async (size) => {
      const { app, page } = await enter()
      const metrics = ['mrr', 'revenue', 'churn_rate', 'retention', 'recovery']
      const { cookie } = await app.signIn()
      const headers = { cookie, 'sec-fetch-site': 'same-origin' }
      const { body } = await app.post('/api/v1/share-links', { label: 'x', basis: 'gross', metrics }, headers)
      await show(page, '/')
      const guest = await openAsGuest(new URL(String(body.url), page.url()).href, size)
      const main = guest.page.locator('main')
      for (const title of ['MRR', 'Revenue', 'Churn rate', 'Retention', 'Billing recovery'])
        await main.getByText(title, { exact: true }).first().waitFor()
      await settled(guest.page)
      for (const title of ['Active subscriptions', 'Refund rate', 'Realized LTV'])
        expect(await main.getByText(title, { exact: true }).count()).toBe(0)
      await main.getByText('$4.99').first().waitFor()
      await storePicture(guest.page, `limited-guest-${size}`)
      await assertSound(guest.page)
      expect(await guest.page.getByRole('button', { name: 'Share', exact: true }).count()).toBe(0)
      for (const name of ['Subscriptions', 'Trials & retention', 'Customers'])
        expect(await guest.page.getByRole('link', { name, exact: true }).count()).toBe(0)
      await show(guest.page, '/metrics')
      expect(await main.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
        'MRR',
        'Churn rate',
        'Revenue',
        'Retention',
        'Billing recovery',
      ])
      await show(guest.page, '/metrics/mrr')
      await main.getByText('$4.99').first().waitFor()
      await assertSound(guest.page)
      for (const path of ['/subscriptions', '/customers']) {
        await show(guest.page, path)
        await main.getByText('This page does not exist').waitFor()
      }
      await show(guest.page, '/metrics/active_subscriptions')
      await main.getByText('Not available through this link').waitFor()
      expect([guest.complaints, guest.refused]).toEqual([[], []])
    },
  )

  test('for proceeds, what is known as gross only cannot be chosen', async () => {
    const { page } = await enter()
    await show(page, '/subscriptions')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = dialogOf(page)
    expect(await dialog.getByRole('checkbox', { name: 'MRR at risk' }).isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Proceeds' }).click()
    expect(await dialog.getByRole('checkbox', { name: 'MRR at risk' }).isChecked()).toBe(false)
    expect(await dialog.getByRole('checkbox', { name: 'MRR at risk' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Name').fill('Investor')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    expect(await linkIn(page)).toContain('/share#')
  })

  test('all metrics can be shared from their list, and the button is in view', async () => {
    const { page } = await enter()
    await show(page, '/metrics')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = dialogOf(page)
    await dialog.getByRole('button', { name: 'Chosen' }).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.setViewportSize({ width: 1280, height: 520 })
    await show(page, '/subscriptions')
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByRole('checkbox', { name: 'MRR at risk' }).waitFor()
    const box = await dialog.getByRole('button', { name: 'Create link' }).boundingBox()
    expect((box?.y ?? 520) + (box?.height ?? 0)).toBeLessThan(520)
  })

  test('a link is not created before a metric is chosen', async () => {
    const { app, page } = await enter()
    await show(page, '/settings/guests')
    await page.getByRole('button', { name: 'New share link' }).click()
    const dialog = dialogOf(page)
    await dialog.getByRole('button', { name: 'Chosen' }).click()
    await dialog.getByLabel('Name').fill('Nobody')
    expect(await dialog.getByRole('button', { name: 'Create link' }).isDisabled()).toBe(true)
    await dialog.getByRole('checkbox', { name: 'MRR', exact: true }).click()
    await dialog.getByRole('button', { name: 'None' }).click()
    expect(await dialog.getByRole('checkbox', { name: 'MRR', exact: true }).isChecked()).toBe(false)
    await dialog.getByRole('checkbox', { name: 'Revenue', exact: true }).click()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    expect(await linkIn(page)).toContain('/share#')
    expect(app.windfall.links.list()).toMatchObject([{ metrics: ['revenue'] }])
  })
})
