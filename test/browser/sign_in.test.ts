/** Sign-in of owner and guests in a real browser, with cookies, Fetch Metadata and content security policy. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hashPassword } from '../../src/access/passwords.ts'
import { listen } from '../../src/http/server.ts'
import { openTestApp } from '../helpers.ts'
import { accessibilityViolations, hasChromium, launch, visit } from './chromium.ts'

const PASSWORD = 'correct horse battery'

let browser: Browser
const inBrowser = test.skipIf(!hasChromium())
beforeAll(async () => {
  if (hasChromium()) browser = await launch()
})
afterAll(() => browser?.close())

async function opened() {
  const app = await openTestApp()
  const server = await listen(app.windfall.http, { port: 0, shutdown_ms: 100 })
  app.windfall.http.configure({ base_url: server.url })
  const { context, page, complaints } = await visit(browser, server.url, 'desktop')
  onTestFinished(async () => {
    await context.close()
    await server.close()
  })
  const state = async () => (await (await context.request.get('/api/v1/session')).json()).state
  return { app, page, context, complaints, state, url: server.url }
}

inBrowser('sets a password from the printed link, then signs in with it', async () => {
  const { app, page, context, complaints, state } = await opened()
  const token = await app.windfall.store.commit(() => app.windfall.owner.createLink('setup').token)
  await page.goto(`/setup#${token}`)
  expect(await accessibilityViolations(page)).toEqual([])
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL((at) => at.pathname === '/' && at.hash === '')
  expect(await state()).toBe('owner')
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({ name: 'windfall', httpOnly: true, sameSite: 'Lax', path: '/' })

  // Today keeps sending requests, so leave it first.
  await page.goto('about:blank')
  await context.clearCookies()
  await page.goto('/login')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect.poll(state, { timeout: 20_000 }).toBe('owner')
  expect(complaints).toEqual([])
})

inBrowser('blocks sign-in for a minute after ten wrong passwords', async () => {
  const { app, page, state } = await opened()
  const phc = await hashPassword(PASSWORD)
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(phc))
  await page.clock.install()
  await page.goto('/login')
  const answerTo = async (password: string): Promise<number> => {
    await page.getByLabel('Password').fill(password)
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/v1/login'))
    await page.getByRole('button', { name: 'Sign in' }).click()
    return (await answered).status()
  }
  for (let tries = 0; tries < 10; tries += 1)
    expect(await answerTo(`wrong ${tries} and long enough`)).toBe(401)
  expect(await answerTo(PASSWORD)).toBe(429)
  await page.getByRole('alert').getByText('Too many attempts from your address or network').waitFor()
  const wait = page.getByRole('button', { name: /^Try again in (60|[1-5]?\d) seconds?$/ })
  expect(await wait.isDisabled()).toBe(true)
  expect(await state()).toBe('signed_out')

  app.clock.turn(60_000)
  await page.clock.fastForward(60_000)
  expect(await answerTo(PASSWORD)).toBe(200)
  await page.waitForURL((at) => at.pathname === '/')
  expect(await state()).toBe('owner')
})

inBrowser('signs in once with the demo’s link', async () => {
  const { app, page, context, state } = await opened()
  const token = await app.windfall.store.commit(() => {
    app.windfall.owner.setPassword('none')
    return app.windfall.owner.createLink('sign_in').token
  })
  await page.goto(`/login#${token}`)
  await page.waitForURL((at) => at.pathname === '/' && at.hash === '')
  expect(await state()).toBe('owner')
  await context.clearCookies()
  await page.goto('/healthz')
  await page.goto(`/login#${token}`)
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Password').waitFor()
})

inBrowser('asks for the passcode of a share link, then shows its figures', async () => {
  const { app, page, state } = await opened()
  const headers = await app.signIn()
  const request = { label: 'bank', basis: 'gross', passcode: 'sesame' }
  const { body } = await app.post('/api/v1/share-links', request, headers)
  await page.goto(`/share#${String(body.url).split('#')[1]}`)
  await page.getByLabel('Passcode').fill('simsim')
  expect(await accessibilityViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('Incorrect passcode').waitFor()
  await page.getByLabel('Passcode').fill('sesame')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.waitForURL((at) => at.pathname === '/' && at.hash === '')
  expect(await state()).toBe('guest')
  await page.getByText('Viewing a shared dashboard').waitFor()
})

inBrowser('says that a share link no longer works, without offering to try again', async () => {
  const { page } = await opened()
  await page.goto(`/share#${'a'.repeat(43)}`)
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
})

inBrowser('shows a guest that the link was revoked, now and on return', async () => {
  const { app, page } = await opened()
  const headers = await app.signIn()
  await app.windfall.store.commit(() => app.windfall.owner.setPassword('none'))
  const { body } = await app.post('/api/v1/share-links', { label: 'bank', basis: 'gross' }, headers)
  await page.goto(`/share#${String(body.url).split('#')[1]}`)
  await page.getByText('Viewing a shared dashboard').waitFor()
  await page.waitForLoadState('networkidle')
  const ended = await app.request(`/api/v1/share-links/${body.id}`, { method: 'DELETE', headers })
  expect(ended.status).toBe(204)
  const over = page.getByRole('heading', { name: 'This link is no longer valid' })
  // The page notices by itself, without a click.
  await over.waitFor()
  await page.goto('/')
  await over.waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  expect(await page.getByLabel('Password').count()).toBe(0)
  await page.getByRole('button', { name: 'I am the owner' }).click()
  await page.getByLabel('Password').waitFor()
})

inBrowser('shows a not-found page, signed in or not', async () => {
  const { app, page, context, url } = await opened()
  const nothing = page.getByText('This page does not exist')
  expect((await page.goto('/nothing'))?.status()).toBe(404)
  await nothing.waitFor()
  const [name = '', value = ''] = (await app.signIn()).cookie.split('=')
  await context.addCookies([{ name, value, url, sameSite: 'Lax', httpOnly: true }])
  await page.goto('/nothing/at/all')
  await nothing.waitFor()
  await page.getByRole('link', { name: 'Go to dashboard' }).click()
  await page.waitForURL((at) => at.pathname === '/')
})

inBrowser('requires the current password for a new one and refuses a weak one', async () => {
  const { app, page, context, url } = await opened()
  const { cookie } = await app.signIn()
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url, sameSite: 'Lax', httpOnly: true }])
  const phc = await hashPassword(PASSWORD)
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(phc))
  await page.goto('/settings/security')
  const change = page.getByRole('button', { name: 'Change password' })
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill('aaaaaaaaaaaaaa')
  await change.click()
  await page.getByRole('alert').getByText('not be a repetition').waitFor()
  await page.getByLabel('New password').fill('another horse entirely')
  await page.getByLabel('Current password').fill('another password')
  await change.click()
  await page.getByRole('alert').getByText('Incorrect password').waitFor()
  await page.getByLabel('Current password').fill(PASSWORD)
  await change.click()
  await page.getByText('Password changed.').waitFor()
})

inBrowser('refuses cross-site sign-in and cross-site writes', async () => {
  const { app, page, context, url } = await opened()
  const { cookie } = await app.signIn()
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url, sameSite: 'Lax', httpOnly: true }])
  // Another name of the same machine is another site to a browser, and a host that the server accepts.
  await page.goto(`${url.replace('127.0.0.1', 'localhost')}/healthz`)
  const outcome = await page.evaluate(
    async (target) =>
      fetch(`${target}/api/v1/sessions`, { method: 'DELETE', credentials: 'include', mode: 'cors' }).then(
        () => 'done',
        () => 'refused',
      ),
    url,
  )
  expect(outcome).toBe('refused')
  expect(app.windfall.sessions.list()).toHaveLength(1)
})
