/** The authenticator app in the settings, and its code at the sign-in. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashPassword } from '../../../src/access/passwords.ts'
import { codeAt } from '../../access/authenticator.ts'
import { openTestApp } from '../../helpers.ts'
import { hasChromium, launch, type Size } from '../chromium.ts'
import { assertSound, storePicture, visitAsOwner } from '../owned.ts'

const PASSWORD = 'correct horse battery'
const NEW_PASSWORD = 'another good phrase'
const STEP = 30_000

let browser: Browser
const inBrowser = test.skipIf(!hasChromium())
beforeAll(async () => {
  if (hasChromium()) browser = await launch()
})
afterAll(() => browser?.close())

/** The security page of an owner with a password. */
async function opened(size: Size = 'desktop') {
  const app = await openTestApp()
  const phc = await hashPassword(PASSWORD)
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(phc))
  const visited = await visitAsOwner(browser, app, size)
  await visited.page.goto('/settings/security')
  return { app, ...visited }
}

/** Signs out and enters the password. */
async function enterPassword(page: Page): Promise<void> {
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto('/login')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Enter a code' }).waitFor()
}

inBrowser('sets up an app, then signs in with its code, and with a recovery code', async () => {
  const { app, page, complaints } = await opened()
  // The password was entered too long ago.
  app.clock.turn(20 * 60_000)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
  await assertSound(page)
  await storePicture(page, 'authenticator_setup')
  const secret = (await page.locator('.sheet .copy code').textContent()) ?? ''
  const right = codeAt(secret, app.clock())
  await page.getByLabel('Code', { exact: true }).fill(right === '000000' ? '111111' : '000000')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('alert').getByText('The code is wrong').waitFor()
  await page.getByLabel('Code', { exact: true }).fill(right)
  await page.getByRole('button', { name: 'Turn on' }).click()

  await page.getByRole('heading', { name: 'Recovery codes' }).waitFor()
  await assertSound(page)
  await storePicture(page, 'recovery_codes')
  const codes = ((await page.locator('.recovery-codes').textContent()) ?? '').split('\n')
  expect(codes).toHaveLength(10)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('windfall-recovery-codes.txt')
  expect(readFileSync(await download.path(), 'utf8')).toContain(codes.join('\n'))
  await page.getByRole('button', { name: 'I saved the codes' }).click()
  await page.getByText('10 recovery codes are left.').waitFor()
  await page.getByRole('cell', { name: 'Set up an authenticator app' }).waitFor()
  await storePicture(page, 'security')

  expect(complaints.splice(0).filter((line) => !/status of 40[03]/.test(line))).toEqual([])
  app.clock.turn(2 * STEP)
  await enterPassword(page)
  await assertSound(page)
  await storePicture(page, 'code_step')
  // The field has the focus.
  await page.keyboard.type(codeAt(secret, app.clock()))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()

  await enterPassword(page)
  await page.getByLabel('Code').fill(codeAt(secret, app.clock()))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('The code is wrong or was used').waitFor()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill(codes[0]?.toUpperCase() ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
  await page.goto('/settings/security')
  await page.getByText('9 recovery codes are left.').waitFor()
})

inBrowser('makes new recovery codes, and removes the app, on a phone', async () => {
  const { app, page } = await opened('phone')
  await page.getByRole('button', { name: 'Set up' }).click()
  const secret = (await page.locator('.sheet .copy code').textContent()) ?? ''
  await assertSound(page)
  await storePicture(page, 'authenticator_setup_phone')
  await page.getByLabel('Code', { exact: true }).fill(codeAt(secret, app.clock()))
  await page.getByRole('button', { name: 'Turn on' }).click()
  const first = await page.locator('.recovery-codes').textContent()
  await storePicture(page, 'recovery_codes_phone')
  await page.getByRole('button', { name: 'I saved the codes' }).click()
  await page.getByRole('button', { name: 'New recovery codes' }).click()
  await page.getByRole('button', { name: 'Make new codes' }).click()
  await page.getByRole('heading', { name: 'Recovery codes', exact: true }).waitFor()
  expect(await page.locator('.recovery-codes').textContent()).not.toBe(first)
  await page.getByRole('button', { name: 'I saved the codes' }).click()

  app.clock.turn(20 * 60_000)
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill(NEW_PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  const asked = page.getByRole('dialog', { name: 'Enter a code' })
  await asked.getByLabel('Code', { exact: true }).fill(codeAt(secret, app.clock()))
  await asked.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed.').waitFor()

  // The password was entered too long ago.
  app.clock.turn(20 * 60_000)
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  await assertSound(page)
  await storePicture(page, 'reauth_code_phone')
  await asked.getByLabel('Code', { exact: true }).fill(codeAt(secret, app.clock()))
  await asked.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Set up' }).waitFor()
  expect(app.windfall.secondFactor.isOn()).toBe(false)
})
