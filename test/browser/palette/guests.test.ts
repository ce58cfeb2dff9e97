import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { listen } from '../../../src/http/server.ts'
import { hasChromium, launch, visit } from '../chromium.ts'
import { assertSound, storePicture } from '../owned.ts'
import { show } from '../views.ts'
import { closed, field, found, openPeople, openSearch } from './palettes.ts'

describe.skipIf(!hasChromium())('the search of a guest', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('has the views and metrics of the link, and asks for no customers', async () => {
    const app = await openPeople()
    const server = await listen(app.windfall.http, { port: 0, shutdown_ms: 100 })
    app.windfall.http.configure({ base_url: server.url })
    const link = await app.post(
      '/api/v1/share-links',
      { label: 'bank', basis: 'proceeds' },
      await app.signIn(),
    )
    const { context, page, complaints } = await visit(browser, server.url, 'desktop')
    onTestFinished(async () => {
      await context.close()
      await server.close()
    })
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await page.goto(`/share#${String(link.body.url).split('#')[1]}`)
    await page.getByText('Viewing a shared dashboard').waitFor()
    await show(page, '/')
    await openSearch(page)
    expect(await found(page)).toEqual([
      'Overview',
      'Revenue',
      'Subscriptions',
      'Trials & retention',
      'All metrics',
      'Dark theme',
      'Copy link to this view',
      'Keyboard shortcuts',
      'Sign out',
    ])
    await assertSound(page)
    await storePicture(page, 'palette-guest')
    for (const text of ['customers', 'ann', 'webhooks', 'amounts']) {
      await field(page).fill(text)
      await page.getByText(`Nothing found for “${text}”`).waitFor()
    }
    // Money that exists only as gross is hidden from this link.
    await field(page).fill('mrr')
    await expect.poll(() => found(page)).toContain('Net new MRR')
    expect(await found(page)).not.toContain('MRR movements')
    await page.keyboard.press('Escape')
    await closed(page)
    for (const key of ['g', 'c', 'g', 'e']) await page.keyboard.press(key)
    expect(new URL(page.url()).pathname).toBe('/')
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    // A press has no effect until the closed sheet is gone.
    await vi.waitFor(async () => {
      await page.keyboard.press('?')
      await list.waitFor({ timeout: 1_000 })
    }, 20_000)
    expect(await list.textContent()).toContain('OverviewG then T')
    expect(await list.textContent()).not.toContain('Customers')
    expect(requests.filter((path) => /customers|events|settings/.test(path))).toEqual([])
    expect(complaints).toEqual([])
  })
})
