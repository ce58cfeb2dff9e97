/** Passkeys in Chromium, with its virtual authenticator. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hashPassword } from '../../../src/access/passwords.ts'
import { listen } from '../../../src/http/server.ts'
import { openTestApp } from '../../helpers.ts'
import { hasChromium, launch, type Size, visit } from '../chromium.ts'
import { assertSound, storePicture } from '../owned.ts'

const PASSWORD = 'correct horse battery'

let browser: Browser
const inBrowser = test.skipIf(!hasChromium())
beforeAll(async () => {
  if (hasChromium()) browser = await launch()
})
afterAll(() => browser?.close())

type Authenticator = { setVerified: (isVerified: boolean) => Promise<unknown> }

/** Gives the page an authenticator such as Touch ID, which keeps passkeys and verifies its user. */
async function addAuthenticator(context: BrowserContext, page: Page): Promise<Authenticator> {
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    setVerified: (isUserVerified) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

/** The security page of an owner with a password, opened as `localhost` or as another name of this machine. */
async function opened({ size = 'desktop' as Size, name = 'localhost' } = {}) {
  const app = await openTestApp()
  const phc = await hashPassword(PASSWORD)
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(phc))
  const server = await listen(app.windfall.http, { port: 0, shutdown_ms: 100 })
  const url = server.url.replace('127.0.0.1', name)
  app.windfall.http.configure({ base_url: url })
  const { context, page, complaints } = await visit(browser, url, size)
  onTestFinished(async () => {
    await context.close()
    await server.close()
  })
  const authenticator = await addAuthenticator(context, page)
  const [cookie = '', value = ''] = (await app.signIn()).cookie.split('=')
  await context.addCookies([{ name: cookie, value, url, sameSite: 'Lax', httpOnly: true }])
  /** Signs out, and opens the sign-in page. */
  const signOut = async () => {
    await page.goto('about:blank')
    await context.clearCookies()
    await page.goto('/login')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }
  await page.goto('/settings/security')
  return { app, page, context, complaints, authenticator, signOut, url }
}

/** Adds a passkey. The password was entered recently. */
async function add(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
}

const listed = (page: Page, name: string) => page.getByRole('button', { name: `Remove ${name}` })
const passkeySignIn = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' })

inBrowser('adds a passkey and signs in with it, then removes it', async () => {
  const { app, page, complaints, signOut } = await opened()
  // The password was entered too long ago.
  app.clock.turn(20 * 60_000)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  expect(await page.getByLabel('Name').inputValue()).toMatch(/Chrome on Linux/)
  await assertSound(page)
  await storePicture(page, 'passkey_add')
  await page.getByLabel('Name').fill('Work Mac')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page
    .getByRole('dialog', { name: 'Enter your password' })
    .getByRole('button', { name: 'Continue' })
    .click()
  await listed(page, 'Work Mac').waitFor()
  await assertSound(page)
  await storePicture(page, 'passkeys')
  expect(complaints.splice(0).every((line) => line.includes('status of 403'))).toBe(true)
  expect(app.windfall.passkeys.list()).toMatchObject([{ name: 'Work Mac', host: 'localhost', used_at: null }])

  await signOut()
  await assertSound(page)
  await storePicture(page, 'passkey_sign_in')
  await passkeySignIn(page).click()
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
  expect(app.windfall.passkeys.list()).toMatchObject([{ used_at: app.clock() }])
  expect(complaints).toEqual([])

  await page.goto('/settings/security')
  await listed(page, 'Work Mac').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  // A passkey does not replace the password where secrets and sign-in change.
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect.poll(() => app.windfall.passkeys.list()).toEqual([])
  await listed(page, 'Work Mac').waitFor({ state: 'detached' })
  await signOut()
  expect(await passkeySignIn(page).count()).toBe(0)
})

inBrowser('says what happened when the passkey is refused, gone or known already', async () => {
  const { app, page, authenticator, signOut } = await opened()
  await add(page, 'Mac')
  await listed(page, 'Mac').waitFor()
  await add(page, 'The same Mac')
  await page.getByRole('alert').getByText('This device has a passkey for Windfall already.').waitFor()
  await signOut()
  await authenticator.setVerified(false)
  await passkeySignIn(page).click()
  await page.getByRole('alert').getByText('Canceled, or no passkey was chosen in time.').waitFor()
  await authenticator.setVerified(true)
  const [passkey] = app.windfall.passkeys.list()
  await app.windfall.store.commit(() => app.windfall.passkeys.remove(passkey?.id ?? ''))
  await passkeySignIn(page).click()
  await page.getByRole('alert').getByText('The passkey was not accepted').waitFor()
  await assertSound(page)
  // The password always works.
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
})

inBrowser('a passkey needs no code of the authenticator app', async () => {
  const { app, page, signOut } = await opened({ size: 'phone' })
  await add(page, 'Phone')
  await listed(page, 'Phone').waitFor()
  await assertSound(page)
  await storePicture(page, 'passkeys_phone')
  await app.windfall.store.commit(() =>
    app.windfall.store
      .prepare("insert into authenticator (id, sealed, last_step, created_at) values (1, 'x', 0, 0)")
      .run(),
  )
  await signOut()
  await passkeySignIn(page).click()
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
})

inBrowser('says why passkeys do not work at an address, and where they do', async () => {
  const { app, page, url } = await opened({ name: '127.0.0.1' })
  await page.getByText('Browsers bind passkeys to a host name, and 127.0.0.1 is an address.').waitFor()
  const button = page.getByRole('button', { name: 'Add a passkey' })
  expect(await button.isDisabled()).toBe(true)
  await assertSound(page)
  await storePicture(page, 'passkeys_unavailable')
  // The address is right in the settings, and the browser is elsewhere.
  app.windfall.http.configure({ base_url: url.replace('127.0.0.1', 'localhost') })
  await page.reload()
  await page.getByText('Open Windfall at localhost to add one.').waitFor()
  expect(await button.isDisabled()).toBe(true)
})

inBrowser('names the host of a passkey of an earlier base_url, and does not offer it', async () => {
  const { app, page, signOut, url } = await opened()
  await add(page, 'Mac')
  await listed(page, 'Mac').waitFor()
  app.windfall.http.configure({ base_url: url.replace('localhost', 'new.localhost') })
  await page.reload()
  await page.getByText('For localhost only').waitFor()
  await assertSound(page)
  await signOut()
  expect(await passkeySignIn(page).count()).toBe(0)
})
