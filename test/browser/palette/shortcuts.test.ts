import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, storePicture } from '../owned.ts'
import { show } from '../views.ts'
import { closed, enter, field, focused, openSearch } from './palettes.ts'

describe.skipIf(!hasChromium())('keyboard shortcuts', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const pathOf = (page: Page): string => new URL(page.url()).pathname
  const list = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' })

  test('G and the key of a view open the view in the same scope', async () => {
    const { page, complaints } = await enter(browser)
    await show(page, '/?env=sandbox')
    for (const [key, name] of [
      ['r', 'Revenue'],
      ['s', 'Subscriptions'],
      ['n', 'Trials & retention'],
      ['m', 'All metrics'],
      ['c', 'Customers'],
      ['e', 'Events'],
      [',', 'Settings'],
      ['t', 'Today'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      expect(new URL(page.url()).search).toBe('?env=sandbox')
    }
    expect(complaints).toEqual([])
  })

  test('the list opens with ?, closes with Escape, and has no faults of accessibility', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await page.getByRole('link', { name: 'Revenue' }).first().focus()
    await page.keyboard.press('?')
    await list(page).waitFor()
    expect(await list(page).textContent()).toContain('SettingsG then ,')
    await assertSound(page)
    await storePicture(page, 'shortcuts')
    await page.keyboard.press('Escape')
    await list(page).waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Revenue')
    await openSearch(page)
    await page.keyboard.type('shortcuts')
    await page.keyboard.press('Enter')
    await list(page).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await list(page).waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Revenue')
  })

  test('/ moves to the search of the view, else it opens the search', async () => {
    const { page } = await enter(browser)
    await show(page, '/customers')
    await page.keyboard.press('/')
    expect(await page.evaluate<string>('document.activeElement.type')).toBe('search')
    expect(await page.getByRole('searchbox').inputValue()).toBe('')
    await show(page, '/revenue')
    await page.keyboard.press('/')
    await field(page).waitFor()
    expect(await field(page).inputValue()).toBe('')
  })

  test('keys that are typed, or pressed with a modifier, in a menu or in a dialog, are no shortcuts', async () => {
    const { page } = await enter(browser)
    await show(page, '/customers')
    const search = page.getByRole('searchbox', { name: 'Search customers' })
    await search.click()
    await page.keyboard.type('gr?/')
    expect(await search.inputValue()).toBe('gr?/')
    await search.blur()
    for (const keys of ['Alt+g', 'Shift+g', 'Control+g']) {
      await page.keyboard.press(keys)
      await page.keyboard.press('r')
    }
    await page.getByRole('button', { name: /^Apps/ }).click()
    await page.getByRole('checkbox', { name: 'All apps' }).focus()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await openSearch(page)
    await page.getByRole('button', { name: 'Close' }).focus()
    await page.keyboard.press('?')
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    expect(pathOf(page)).toBe('/customers')
    expect(await list(page).count()).toBe(0)
    await page.keyboard.press('Escape')
    await closed(page)
    // The menu was closed by the search, and its button has the focus.
    expect(await focused(page)).toContain('Apps')
  })

  test('the viewer switches single keys off, and the shortcut of the search still works', async () => {
    const { page } = await enter(browser)
    await show(page, '/')
    await page.keyboard.press('?')
    await page.getByRole('checkbox', { name: 'Use single keys as shortcuts' }).uncheck()
    await storePicture(page, 'shortcuts-off')
    await page.keyboard.press('Escape')
    await list(page).waitFor({ state: 'detached' })
    await show(page, '/')
    for (const key of ['g', 'r', '?', '/']) await page.keyboard.press(key)
    await openSearch(page)
    expect(pathOf(page)).toBe('/')
    expect(await page.locator('.palette .keys').count()).toBe(0)
    await page.keyboard.type('single-key')
    await page.keyboard.press('Enter')
    await page.getByText('Single-key shortcuts are on').waitFor()
    await page.keyboard.press('Escape')
    await closed(page)
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Revenue', level: 1 }).waitFor()
  })

  test('on Apple’s keyboards the search opens with ⌘K, and Ctrl+K stays with text fields', async () => {
    const { page } = await enter(browser)
    await page.addInitScript("Object.defineProperty(navigator, 'platform', { value: 'MacIntel' })")
    await show(page, '/customers')
    expect(await page.getByRole('button', { name: 'Search' }).first().textContent()).toBe('Search⌘K')
    await page.getByRole('searchbox', { name: 'Search customers' }).click()
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Meta+k')
    await field(page).waitFor()
    await page.keyboard.press('Control+k')
    expect(await field(page).isVisible()).toBe(true)
    await page.keyboard.press('Meta+k')
    await closed(page)
  })

  test('keys that are pressed while the search loads do nothing', async () => {
    const { page } = await enter(browser)
    await page.addInitScript('delete Navigator.prototype.serviceWorker')
    await show(page, '/')
    let release = (): void => undefined
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/assets/part-*', async (route) => {
      await isHeld
      await route.continue()
    })
    for (const keys of ['Control+k', 'g', 'r']) await page.keyboard.press(keys)
    release()
    await field(page).waitFor()
    expect(pathOf(page)).toBe('/')
  })
})
