/** How the owner and guests come in, in a real browser: its cookies, its Fetch Metadata and our policy, as they are. */
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

inBrowser('the printed link chooses a password; after signing out it signs in', async () => {
  const { app, page, context, complaints, state } = await opened()
  const token = await app.windfall.store.commit(() => app.windfall.owner.createLink('setup').token)
  await page.goto(`/setup#${token}`)
  expect(await accessibilityViolations(page)).toEqual([])
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.waitForURL((at) => at.pathname === '/' && at.hash === '')
  expect(await state()).toBe('owner')
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({ name: 'windfall', httpOnly: true, sameSite: 'Lax', path: '/' })

  // Today goes on asking: away from it first.
  await page.goto('about:blank')
  await context.clearCookies()
  await page.goto('/login')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect.poll(state, { timeout: 20_000 }).toBe('owner')
  expect(complaints).toEqual([])
})

inBrowser('after ten wrong passwords the owner waits a minute, and then signs in', async () => {
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
  await page.getByRole('alert').getByText('Too many attempts came from here.').waitFor()
  const wait = page.getByRole('button', { name: /^Try again in (60|[1-5]?\d) seconds?$/ })
  expect(await wait.isDisabled()).toBe(true)
  expect(await state()).toBe('signed_out')

  app.clock.turn(60_000)
  await page.clock.fastForward(60_000)
  expect(await answerTo(PASSWORD)).toBe(200)
  await page.waitForURL((at) => at.pathname === '/')
  expect(await state()).toBe('owner')
})

inBrowser('the link of the demo signs in with one click, and only once', async () => {
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

inBrowser('a share link asks for its passcode and shows what is shared', async () => {
  const { app, page, state } = await opened()
  const headers = await app.signIn()
  const request = { label: 'bank', basis: 'gross', passcode: 'sesame' }
  const { body } = await app.post('/api/v1/share-links', request, headers)
  await page.goto(`/share#${String(body.url).split('#')[1]}`)
  await page.getByLabel('Passcode').fill('simsim')
  expect(await accessibilityViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('this is not the passcode').waitFor()
  await page.getByLabel('Passcode').fill('sesame')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.waitForURL((at) => at.pathname === '/' && at.hash === '')
  expect(await state()).toBe('guest')
  await page.getByText('You look at this through a shared link.').waitFor()
})

inBrowser('a guest whose link was revoked is told so, now and when they come back', async () => {
  const { app, page } = await opened()
  const headers = await app.signIn()
  await app.windfall.store.commit(() => app.windfall.owner.setPassword('none'))
  const { body } = await app.post('/api/v1/share-links', { label: 'bank', basis: 'gross' }, headers)
  await page.goto(`/share#${String(body.url).split('#')[1]}`)
  await page.getByText('You look at this through a shared link.').waitFor()
  await page.waitForLoadState('networkidle')
  const ended = await app.request(`/api/v1/share-links/${body.id}`, { method: 'DELETE', headers })
  expect(ended.status).toBe(204)
  const over = page.getByRole('heading', { name: 'This link is no longer valid' })
  await page.getByRole('link', { name: 'Revenue' }).first().click()
  await over.waitFor()
  await page.goto('/')
  await over.waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  expect(await page.getByLabel('Password').count()).toBe(0)
  await page.getByRole('button', { name: 'I am the owner' }).click()
  await page.getByLabel('Password').waitFor()
})

inBrowser('an address that nothing is at says so in words and leads home, signed in or not', async () => {
  const { app, page, context, url } = await opened()
  const nothing = page.getByText('There is nothing at this address')
  expect((await page.goto('/nothing'))?.status()).toBe(404)
  await nothing.waitFor()
  const [name = '', value = ''] = (await app.signIn()).cookie.split('=')
  await context.addCookies([{ name, value, url, sameSite: 'Lax', httpOnly: true }])
  await page.goto('/nothing/at/all')
  await nothing.waitFor()
  await page.getByRole('link', { name: 'To today' }).click()
  await page.waitForURL((at) => at.pathname === '/')
})

inBrowser('a new password takes the current one, and a weak one is refused in words', async () => {
  const { app, page, context, url } = await opened()
  const { cookie } = await app.signIn()
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url, sameSite: 'Lax', httpOnly: true }])
  const phc = await hashPassword(PASSWORD)
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(phc))
  await page.goto('/settings/security')
  const change = page.getByRole('button', { name: 'Change the password' })
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
  await page.getByText('The password is changed.').waitFor()
})

inBrowser('another site cannot sign in, nor do anything in the owner’s name', async () => {
  const { app, page, context, url } = await opened()
  const { cookie } = await app.signIn()
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url, sameSite: 'Lax', httpOnly: true }])
  // The same machine by another name is another site to a browser, and a host that we answer for.
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
