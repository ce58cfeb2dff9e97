/** The verdict on Today, and Settings, System, in a real browser: the checks never ran, run, and have a result with its age. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { renewedPayload } from '../apple/samples.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { hasChromium, type Light, launch, type Size } from './chromium.ts'
import { assertSound, visitAsOwner } from './owned.ts'
import { show } from './views.ts'

/** A server in the place of Apple that answers only after `release`. */
async function openSlowApple() {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const server = createServer((_, response) => void released.then(() => response.writeHead(404).end()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { release, hosts: { connect: origin, server: { production: origin, sandbox: origin } } }
}

describe.skipIf(!hasChromium())('system', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** A server with the owner signed in. The clock is the browser's, so that ages are right. */
  async function opened(size: Size, light: Light) {
    const apple = await openSlowApple()
    const env = { WINDFALL_RATES_FETCH: 'false' }
    const app = await openTestApp({ clock: handClock(Date.now()), hosts: apple.hosts, env })
    const { page, complaints } = await visitAsOwner(browser, app, size, light)
    await page.clock.install()
    return { app, apple, page, complaints }
  }

  const run = (page: Page) => page.getByRole('button', { name: 'Run checks' })

  const verdict = (page: Page) => page.getByRole('link', { name: /Everything works|\d (error|warning)/ })

  test('Today has no verdict before the first notification, then one that leads to what it rests on', async () => {
    const { app, apple, page, complaints } = await opened('desktop', 'light')
    apple.release()
    await show(page, '/')
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
    expect(await verdict(page).count()).toBe(0)
    const outer = { notificationUUID: 'first', signedDate: app.clock() }
    expect((await app.notify(renewedPayload(app.authority, { outer }))).status).toBe(200)
    await app.windfall.jobs.runNow('checks')
    await show(page, '/')
    await verdict(page).click()
    await page.getByRole('list', { name: 'Results' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings/system')
    expect(await verdict(page).textContent()).toMatch(/^ ?(\d+ errors?, )?\d+ warnings?$/)
    await page
      .getByRole('list', { name: 'Needs attention now' })
      .getByText('Exchange rates')
      .first()
      .waitFor()
    await assertSound(page)
    expect(complaints).toEqual([])
  })

  test.each([
    ['desktop', 'light'],
    ['phone', 'dark'],
  ] as const)('shows no result, the progress, and the result with its age on a %s', async (size, light) => {
    const { app, apple, page, complaints } = await opened(size, light)
    await show(page, '/settings/system')
    await page.getByRole('heading', { name: 'No results yet' }).waitFor()
    await assertSound(page)

    await run(page).click()
    await page
      .getByRole('status')
      .getByText(/^Clock, 8 of \d+$/)
      .waitFor()
    expect(await page.getByRole('button', { name: 'Running' }).isDisabled()).toBe(true)
    await assertSound(page)

    apple.release()
    const results = page.getByRole('list', { name: 'Results' })
    const turnToNextLook = async () => {
      await page.clock.fastForward(1_100)
      return results.isVisible()
    }
    await expect.poll(turnToNextLook).toBe(true)
    await page.getByText('Checked now by version').waitFor()
    const badges = await results.locator('.badge').allTextContents()
    const order = ['Error', 'Warning', 'Passed', 'Skipped']
    expect(badges).toEqual(badges.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)))
    await results.getByText('There are no Apple keys.').waitFor()
    await assertSound(page)

    await run(page).click()
    await page
      .getByRole('alert')
      .getByText(/at most once a minute; try again in \d+ s/)
      .waitFor()
    app.clock.turn(3 * 86_400_000)
    await page.clock.fastForward(3 * 86_400_000)
    await page.getByText('Checked 3 days ago by version').waitFor()
    expect(complaints.filter((text) => !text.includes('429'))).toEqual([])
  })
})
