/** The question for the time zone in a real browser: at the set-up, on Today, and in the settings of alerts. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { closedAtEnd } from '../closing.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { hasChromium, launch, visit } from './chromium.ts'
import { assertSound, storePicture, visitAsOwner } from './owned.ts'
import { settled, show } from './views.ts'

const QUESTION = 'Which time zone is yours?'

describe.skipIf(!hasChromium())('the time zone', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const open = () => openTestApp({ clock: handClock(Date.now()) })

  test('Today asks once, with the zone of the browser, and says that days move', async () => {
    const app = await open()
    for (const size of ['phone', 'desktop'] as const) {
      const { page, complaints } = await visitAsOwner(browser, app, size)
      await show(page, '/')
      await page.getByRole('heading', { name: QUESTION }).waitFor()
      const own = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
      expect(await page.getByLabel('Time zone').inputValue()).toBe(own)
      await page.getByText('The days of all charts, quiet hours and digests follow it').waitFor()
      await assertSound(page)
      await storePicture(page, `zone-today-${size}`)
      if (size === 'desktop') {
        await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('heading', { name: QUESTION }).waitFor({ state: 'detached' })
        expect(app.windfall.organizations.get(app.organization.id)).toMatchObject({
          time_zone: 'Asia/Tokyo',
          time_zone_source: 'dashboard',
        })
        await show(page, '/settings/alerts')
        await page.getByText('Times in Asia/Tokyo').waitFor()
        expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo')
        expect(await page.getByText('The days of all charts move with it').count()).toBe(0)
        await page.getByLabel('Time zone').selectOption('UTC')
        await page.getByText('The days of all charts move with it').waitFor()
        await assertSound(page)
        await storePicture(page, 'zone-settings-desktop')
      }
      expect(complaints).toEqual([])
    }
  })

  test.each(['phone', 'desktop'] as const)(
    'on a %s, Today has a place for the form that loads late',
    async (size) => {
      const app = await open()
      const { page } = await visitAsOwner(browser, app, size)
      const question = page.getByRole('heading', { name: QUESTION })
      const seen = Promise.withResolvers<void>()
      // What the question loads is requested once it is shown.
      await page.route('**/assets/part-*', async (route) => {
        if ((await question.count()) > 0) await seen.promise
        await route.continue()
      })
      await page.goto('/')
      await question.waitFor()
      await page.locator('.today-figures').waitFor()
      expect(await page.getByLabel('Time zone').count()).toBe(0)
      const below = () => page.locator('.today-figures').boundingBox()
      const before = await below()
      seen.resolve()
      await page.getByLabel('Time zone').waitFor()
      expect(before).not.toBeNull()
      expect(await below()).toEqual(before)
    },
  )

  test('a zone of config.toml is shown and not asked for', async () => {
    const env = { WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "Europe/Berlin" }]' }
    const app = await openTestApp({ clock: handClock(Date.now()), env })
    const { page, complaints } = await visitAsOwner(browser, app, 'phone')
    await show(page, '/')
    await settled(page)
    expect(await page.getByRole('heading', { name: QUESTION }).count()).toBe(0)
    await show(page, '/settings/alerts')
    await page.getByText('Time zone: Europe/Berlin. config.toml sets it.').waitFor()
    await storePicture(page, 'zone-declared-phone')
    expect(complaints).toEqual([])
  })

  test('the set-up asks with the password', async () => {
    const app = await open()
    const server = closedAtEnd(await listen(app.windfall.http, { port: 0, shutdown_ms: 100 }))
    app.windfall.http.configure({ base_url: server.url })
    const { owner, store, organizations } = app.windfall
    const { token } = await store.commit(() => owner.createLink('setup'))
    const { page, context } = await visit(browser, server.url, 'phone')
    await page.goto(`${server.url}/setup#${token}`)
    await page.getByLabel('Password').fill('a sentence that nobody guesses')
    await page.getByLabel('Time zone').selectOption('Pacific/Auckland')
    await assertSound(page)
    await storePicture(page, 'zone-setup-phone')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
    expect(organizations.get(app.organization.id)?.time_zone).toBe('Pacific/Auckland')
    await context.close()
  })
})
