/** From the setup link to connected apps in the browser: both keys by drop, a test notification, the first steps. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../src/http/server.ts'
import { openConnecting } from '../../api/owner/apple/connecting.ts'
import { KEY, newKey } from '../../config/keys.ts'
import { temporaryFolder } from '../../folders.ts'
import { hasChromium, launch, visit } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'
import { settled, show } from '../views.ts'

const PASSWORD = 'a sentence that nobody guesses'
const MINUTE = 60_000
const CONNECT = 'App Store Connect API key'
const PURCHASES = 'In-App Purchase key'

const cardOf = (page: Page, title: string) =>
  page.locator('section.card').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

/** Drops files on the card with this title. */
async function drop(page: Page, title: string, files: { name: string; text: string }[]): Promise<void> {
  const made = files.map(
    ({ name, text }) => `data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))`,
  )
  const dataTransfer = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); ${made.join(';')}; return data })()`,
  )
  const zone = cardOf(page, title).locator('.drop')
  await zone.dispatchEvent('dragover', { dataTransfer })
  await zone.dispatchEvent('drop', { dataTransfer })
}

const stepsDone = (page: Page) => page.getByRole('heading', { name: /, done$/ }).allTextContents()

describe.skipIf(!hasChromium())('connecting Apple', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('leads from the setup link to both keys, the apps, a test notification and a backup', async () => {
    const copies = temporaryFolder()
    const opened = await openConnecting({
      env: { WINDFALL_RATES_FETCH: 'false', WINDFALL_BACKUP_FOLDER: copies.path },
    })
    const { app, shop, connect, purchases } = opened
    const { http, owner, store } = app.windfall
    const server = await listen(http, { port: 0, shutdown_ms: 100 })
    http.configure({ base_url: server.url })
    shop.store.faults.notification_url = `${server.url}/apple/notifications`
    const { context, page, complaints } = await visit(browser, server.url, 'desktop')
    onTestFinished(async () => {
      await context.close()
      await server.close()
      await app.windfall.close()
      copies.remove()
    })
    const { token } = await store.commit(() => owner.createLink('setup'))

    await page.goto(`/setup#${token}`)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('0 of 7 done').waitFor()
    await settled(page)
    await assertSound(page)
    await storePicture(page, 'first-steps-empty')
    await page.getByRole('link', { name: 'Enter the keys' }).click()

    await drop(page, CONNECT, [{ name: 'AuthKey_CNCT4K7W2Q.p8', text: connect.private_key }])
    const first = cardOf(page, CONNECT)
    expect(await first.getByLabel('Key ID').inputValue()).toBe('CNCT4K7W2Q')
    await first.getByLabel('Issuer ID').fill(connect.issuer_id ?? '')
    await assertSound(page)
    await storePicture(page, 'connect-dropped')
    await first.getByRole('button', { name: 'Try and store' }).click()
    await first.getByText('Works').waitFor()
    for (const { name } of shop.apps)
      await page.getByRole('list', { name: 'Apps of the account' }).getByText(name, { exact: true }).waitFor()

    // Fifteen minutes later, storing a key requires the password again.
    shop.clock.turn(16 * MINUTE)
    await drop(page, PURCHASES, [{ name: 'SubscriptionKey_PRCH9M3X5L.p8', text: purchases.private_key }])
    const second = cardOf(page, PURCHASES)
    expect(await second.getByLabel('Issuer ID').inputValue()).toBe(connect.issuer_id)
    await second.getByRole('button', { name: 'Try and store' }).click()
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Continue' }).click()
    await second.getByText('Works').waitFor()

    await page.getByLabel('Vendor number').fill(shop.store.vendor_number)
    await page.getByRole('button', { name: 'Try and store number' }).click()
    await page.getByText('the import of a year has started').waitFor()

    expect(await page.getByText(`${server.url}/apple/notifications`).count()).toBeGreaterThan(0)
    await page
      .getByRole('button', { name: `Send to production a test notification for ${shop.apps[0]?.name}` })
      .click()
    await page.getByText('Received', { exact: true }).waitFor()
    await settled(page)
    await assertSound(page)
    await storePicture(page, 'connect-complete')

    await show(page, '/')
    await page.getByText('3 of 7 done').waitFor()
    expect(await stepsDone(page)).toEqual([
      'Connect an app, done',
      'Enter Apple’s keys, done',
      'Enter the notification URL in App Store Connect, done',
    ])
    await page.getByRole('button', { name: 'Back up now' }).click()
    await page.getByText('4 of 7 done').waitFor()
    await assertSound(page)
    await storePicture(page, 'first-steps')
    await page.getByRole('button', { name: 'Hide the first steps' }).click()
    await page.getByText('4 of 7 done').waitFor({ state: 'detached' })
    await show(page, '/')
    expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0)
    // The browser also logs the expected refusals: no app yet, and the password.
    expect(complaints.filter((words) => !/status of 40[34]/.test(words))).toEqual([])
  })

  test('says what is wrong with a file or a key, and stores nothing', async () => {
    const { app, rows, shop, connect, purchases } = await openConnecting({
      env: { WINDFALL_RATES_FETCH: 'false' },
    })
    const { page } = await visitAsOwner(browser, app, 'phone', 'dark')
    await show(page, '/settings/apple')
    const card = cardOf(page, CONNECT)
    const submit = () => card.getByRole('button', { name: 'Try and store' }).click()
    const issue = async (name: string, text: string, words: string | RegExp) => {
      await drop(page, CONNECT, [{ name, text }])
      await submit()
      await card.getByRole('alert').getByText(words).waitFor()
    }
    await drop(page, CONNECT, [{ name: 'AuthKey_AAAAAAAAAA.p8', text: 'x'.repeat(20_000) }])
    await card.getByText('is too large for a key').waitFor()
    await drop(
      page,
      CONNECT,
      [1, 2].map((n) => ({ name: `AuthKey_AAAAAAAAA${n}.p8`, text: KEY })),
    )
    await card.getByText('Drop one file here').waitFor()
    expect(await card.getByRole('button', { name: 'Try and store' }).isDisabled()).toBe(true)
    expect(shop.store.requests).toEqual([])

    await issue('notes.txt', 'hunter2', /This is not a private key/)
    await card.getByLabel('Key ID').fill('key one')
    await submit()
    await card.getByText(/key one is not a key id/i).waitFor()
    await assertSound(page)
    await storePicture(page, 'connect-faults')
    await card.getByLabel('Issuer ID').fill('acme')
    await issue('AuthKey_CNCT4K7W2Q.p8', connect.private_key, /is not an issuer id/i)
    await card.getByLabel('Issuer ID').fill('69a6de70-03db-47e3-e053-5b8c7c11a4d1')
    await issue('AuthKey_CNCT4K7W2Q.p8', connect.private_key, 'Apple refused the key (401)')
    await card.getByLabel('Issuer ID').fill(connect.issuer_id ?? '')
    await issue('AuthKey_CNCT4K7W2Q.p8', newKey(), 'Apple refused the key (401)')
    await app.windfall.store.commit(() =>
      app.windfall.apps.add(app.organization.id, { bundle_id: shop.apps[0]?.bundle_id ?? '' }, 'test'),
    )
    await issue('SubscriptionKey_PRCH9M3X5L.p8', purchases.private_key, 'the two keys are swapped')
    await shop.store.close()
    await issue('AuthKey_CNCT4K7W2Q.p8', connect.private_key, 'could not be reached')
    expect(rows()).toEqual([])
  })

  test('says that a key is in the configuration, and adds an app by its bundle id', async () => {
    const env = {
      WINDFALL_RATES_FETCH: 'false',
      WINDFALL_ACCOUNTS: `[{ organization = "default", connect_key_id = "ABCDE12345", connect_key = ${JSON.stringify(KEY)} }]`,
      WINDFALL_ORGANIZATIONS: '[{ slug = "default" }]',
    }
    const { app } = await openConnecting({ env })
    const { page } = await visitAsOwner(browser, app, 'desktop', 'dark')
    await page.goto('/settings/apple')
    await cardOf(page, CONNECT).getByText('This key is in the configuration').waitFor()
    expect(await cardOf(page, CONNECT).locator('.drop').count()).toBe(0)
    await page.getByLabel('Bundle ID').fill('foo')
    await page.getByRole('button', { name: 'Add app' }).click()
    await page.getByText(/parts between dots/).waitFor()
    await page.getByLabel('Bundle ID').fill('com.example.first')
    await page.getByRole('button', { name: 'Add app' }).click()
    await page.getByText('com.example.first').first().waitFor()
    expect(app.windfall.apps.list()).toMatchObject([{ bundle_id: 'com.example.first', source: 'dashboard' }])
  })
})
