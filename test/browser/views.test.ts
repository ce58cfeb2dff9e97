/** Every view with the demo's two years of data, on desktop and phone. */
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VIEWS as ADDRESSES } from '../../src/web/views.ts'
import { isLong } from '../random.ts'
import {
  accessibilityViolations,
  hasChromium,
  type Light,
  launch,
  SIZES,
  type Size,
  visit,
} from './chromium.ts'
import { DEMO_MS, type Demo, openDemo, untilCounted } from './demo/demo.ts'
import { figureOf, headlineOf, textOf } from './figures.ts'
import { scrollsSideways, settled, show, VIEWS } from './views.ts'

/** One page each. After a theme switch, elements outside the viewport would keep their old colors. */
const LOOKS: [size: Size, light: Light][] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
  ...(isLong
    ? ([
        ['desktop', 'dark'],
        ['phone', 'light'],
      ] as [Size, Light][])
    : []),
]
/** The narrowest viewport of each size: that of a desktop zoomed to 200 %, and the smallest phone. */
const NARROWEST: Record<Size, { width: number; height: number }> = {
  desktop: { width: 680, height: 450 },
  phone: { width: 320, height: 640 },
}

/** The reads of a request, which may be a batch. */
const readsIn = (url: string): string => new URL(url).searchParams.get('get') ?? url
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

describe.skipIf(!hasChromium())('the dashboard', () => {
  let browser: Browser
  let demo: Demo

  beforeAll(async () => {
    browser = await launch()
    demo = await openDemo(browser)
    await untilCounted(browser, demo)
  }, DEMO_MS)
  afterAll(() => browser?.close())

  async function enter(size: Size, light: Light = 'light') {
    const visitor = await visit(browser, demo.base, size, light)
    await visitor.context.addCookies(demo.cookies)
    return visitor
  }

  test.for(LOOKS)(
    'renders every view on a %s (%s), also where it is narrow',
    { timeout: 120_000 },
    async ([size, light]) => {
      const { page, complaints } = await enter(size, light)
      for (const [path, heading] of VIEWS) {
        await show(page, path)
        expect(await page.getByRole('heading', { level: 1 }).textContent(), path).toBe(heading)
        expect(await page.getByText('Something went wrong').count(), path).toBe(0)
        expect(await scrollsSideways(page), path).toBe(false)
        expect(await accessibilityViolations(page), path).toEqual([])
        await page.setViewportSize(NARROWEST[size])
        expect(await scrollsSideways(page), `${path}, narrow`).toBe(false)
        await page.setViewportSize(SIZES[size].viewport)
      }
      expect(complaints).toEqual([])
      await page.context().close()
    },
  )

  test('keeps the view state in the URL and restores it', async () => {
    const { page } = await enter('desktop')
    // Past days only, because the demo keeps selling.
    const days = `range=custom&from=${daysAgo(60)}&to=${daysAgo(30)}`
    await show(page, `/revenue?${days}`)
    const all = await page.locator('.figure').first().textContent()
    await page.getByRole('button', { name: /^Apps:/ }).click()
    await page.getByRole('checkbox', { name: 'Tides' }).click()
    await page.keyboard.press('Escape')
    await settled(page)
    const { search } = new URL(page.url())
    expect(search).toContain(days)
    expect(search).toMatch(/app=app_\w+/)
    const figure = await page.locator('.figure').first().textContent()
    expect(figure).not.toBe(all)
    await page.reload()
    await settled(page)
    expect(await page.locator('.figure').first().textContent()).toBe(figure)
    await page.getByRole('link', { name: 'Subscriptions' }).first().click()
    expect(new URL(page.url()).search).toBe(search)
    await page.context().close()
  })

  test('shows the API’s figure for every metric', { timeout: 120_000 }, async () => {
    const { page, context } = await enter('desktop')
    const days = { from: daysAgo(50), to: daysAgo(40) }
    const getJson = async (path: string) => (await context.request.get(path)).json()
    const { metrics } = (await getJson('/api/v1/metrics')) as { metrics: { name: string }[] }
    expect(metrics.length).toBeGreaterThan(15)
    for (const { name } of metrics) {
      const answer = await getJson(`/api/v1/metrics/${name}?from=${days.from}&to=${days.to}&interval=day`)
      const { points } =
        answer.series.find((one: { part: string | null }) => one.part === null) ?? answer.series[0]
      await show(page, `/metrics/${name}?range=custom&from=${days.from}&to=${days.to}&by=day&part=whole`)
      if (answer.unit !== 'ratio') {
        expect(await page.locator('.figure').first().textContent(), name).toBe(headlineOf(answer, points))
      }
      await page.getByRole('button', { name: 'View as table' }).first().click()
      const cells = await page
        .locator('.table-wrap.tall')
        .first()
        .locator('tbody tr td:nth-of-type(1)')
        .allTextContents()
      expect(cells, name).toEqual(
        points.map((point: object) => textOf(answer, figureOf(answer, point))).reverse(),
      )
    }
    await page.context().close()
  })

  test('selects fiscal months, and exports the charted values', async () => {
    const { page, context } = await enter('desktop')
    await show(page, '/metrics/mrr?range=12m')
    await page.getByRole('button', { name: /^Interval:/ }).click()
    await page.getByRole('radio', { name: 'Apple fiscal months' }).click()
    await settled(page)
    await page.getByRole('button', { name: 'View as table' }).first().click()
    const names = await page.locator('.table-wrap.tall').first().locator('tbody th').allTextContents()
    expect(names.length).toBeGreaterThan(11)
    expect(names.filter((name) => !/^FY20\d\d P\d{1,2} \(.+\)$/.test(name))).toEqual([])
    await page.getByRole('button', { name: 'Export' }).first().click()
    for (const title of ['CSV, one row per figure', 'CSV, one column per series']) {
      const href = await page.getByRole('link', { name: title, exact: true }).first().getAttribute('href')
      const [head = '', ...lines] = (await (await context.request.get(href ?? '')).text())
        .trimEnd()
        .split('\r\n')
      const on = head.split(',').indexOf('on')
      const days = new Set(lines.map((line) => line.split(',')[on]))
      expect(days.size, title).toBe(names.length)
    }
    await context.close()
  })

  test('names the funnel’s last day and matches the API over its days', async () => {
    const { page, context } = await enter('desktop')
    await show(page, '/retention')
    const funnel = page.locator('section.card', {
      has: page.getByRole('heading', { name: 'From download to payment' }),
    })
    const [, first = '', last = ''] =
      /Counted from (.+?) to (.+?), the last day with a downloads report/.exec(
        (await funnel.textContent()) ?? '',
      ) ?? []
    const [from, to] = [first, last].map((day) => new Date(`${day} UTC`).toISOString().slice(0, 10))
    const shares = await funnel.locator('li .quiet').allTextContents()
    for (const [index, name] of ['download_to_trial', 'download_to_paid'].entries()) {
      const path = `/api/v1/metrics/${name}?from=${from}&to=${to}`
      const { series } = await (await context.request.get(path)).json()
      const sum = (key: 'numerator' | 'denominator'): number =>
        series[0].points.reduce((all: number, point: Record<string, number>) => all + (point[key] ?? 0), 0)
      const share = ((100 * sum('numerator')) / sum('denominator')).toFixed(1)
      expect(shares[index + 1], name).toContain(`${share}% of downloads`)
    }
    await context.close()
  })

  test('finds a customer and opens the profile, an event and its signed evidence', async () => {
    const { page, complaints } = await enter('phone')
    await show(page, '/customers')
    await page.locator('main a[href^="/customers/"]').first().click()
    await page.waitForURL(/\/customers\/cus_/)
    // The list stays until the profile's code is loaded.
    await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor({ state: 'detached' })
    await settled(page)
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await scrollsSideways(page)).toBe(false)
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await show(page, `/customers?q=${id}`)
    expect(await page.locator('main a[href^="/customers/"]').count()).toBe(1)
    await show(page, '/events')
    await page.locator('main a.happened-title').first().click()
    await settled(page)
    expect(await accessibilityViolations(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('lists the subscriptions that end this week', async () => {
    const { page, complaints } = await enter('phone', 'dark')
    await show(page, '/customers?status=expired')
    await page.getByRole('button', { name: /^Sort by/ }).click()
    await page.getByRole('radio', { name: 'Ends soonest' }).click()
    await page.getByRole('button', { name: 'This week' }).click()
    await settled(page)
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ sort: 'ends', within: '7' })
    // This order has no status filter.
    expect(await page.getByRole('button', { name: 'Expired' }).count()).toBe(0)
    const ends = await page.locator('.person .standing .under').allTextContents()
    expect(ends.length).toBeGreaterThan(0)
    expect(ends.every((words) => words.startsWith('ends '))).toBe(true)
    const { next, customers } = await (
      await page.context().request.get('/api/v1/customers?sort=ends&within_days=7')
    ).json()
    expect([ends.length, next]).toEqual([customers.length, null])
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await scrollsSideways(page)).toBe(false)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('exports tables as PNG images', async () => {
    const { page, complaints } = await enter('desktop')
    for (const [path, title, name] of [
      ['/subscriptions', 'What moved MRR', 'mrr_movements.png'],
      ['/retention', 'Retention', 'retention.png'],
    ] as const) {
      await show(page, path)
      const card = page.locator('section.card', { has: page.getByRole('heading', { name: title }) }).first()
      await card.getByRole('button', { name: 'Export' }).click()
      const coming = page.waitForEvent('download')
      await page.getByRole('button', { name: 'PNG image' }).click()
      const download = await coming
      expect(download.suggestedFilename()).toBe(name)
      const bytes = readFileSync(await download.path())
      expect(bytes.subarray(1, 4).toString()).toBe('PNG')
      // An empty image of that size would be a tenth of that.
      expect(bytes.length, name).toBeGreaterThan(20_000)
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('shows a guest only what the link shares', async () => {
    const owner = await enter('desktop')
    const { page } = owner
    await show(page, '/settings/guests')
    const apps = await (await owner.context.request.get('/api/v1/apps')).json()
    const [app] = apps.apps as { id: string; name: string }[]
    const made = await owner.context.request.post('/api/v1/share-links', {
      headers: { 'sec-fetch-site': 'same-origin' },
      data: { label: 'Accountant', organization_id: null, apps: [app?.id], basis: 'gross', expires_at: null },
    })
    expect(made.status()).toBe(201)
    const { url } = await made.json()
    const guest = await visit(browser, demo.base, 'phone')
    await guest.page.goto(url)
    await guest.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await settled(guest.page)
    await guest.page.getByRole('button', { name: /^Date range/ }).waitFor()
    expect(await guest.page.getByRole('link', { name: 'Customers' }).count()).toBe(0)
    expect(guest.complaints).toEqual([])
    await show(guest.page, '/subscriptions')
    expect(await accessibilityViolations(guest.page)).toEqual([])
    expect(guest.complaints).toEqual([])
    await show(guest.page, '/customers')
    expect(await guest.page.getByText('This page does not exist').count()).toBe(1)
    for (const path of ['customers', 'events', 'settings', 'audit', 'keys', 'status']) {
      expect((await guest.context.request.get(`/api/v1/${path}`)).status(), path).toBe(403)
    }
    await guest.context.close()
    await page.context().close()
  })

  test('shows new events without a reload', async () => {
    const { page, context } = await enter('phone')
    await show(page, '/?kind=people')
    const key = await page.evaluate<string>(
      "fetch('/api/v1/keys').then((answer) => answer.json()).then(({ keys }) => keys.find((key) => key.kind === 'publishable').token)",
    )
    const user = `seen-${Date.now()}`
    const identified = await context.request.post('/api/sdk/v1/identify', {
      headers: { authorization: `Bearer ${key}` },
      data: { appUserId: user, bundleId: 'com.lanternlabs.tides' },
    })
    expect(identified.status()).toBe(200)
    await page.getByText(user).first().waitFor()
    await page.context().close()
  })

  test('renders the rows of a long list once they are near, and one navigation', async () => {
    for (const size of ['desktop', 'phone'] as const) {
      const { page } = await enter(size)
      // Not `show`, which prints: that renders all rows.
      await page.goto('/customers')
      const rows = page.locator('.people a.person')
      await rows.first().waitFor()
      expect(await rows.count(), size).toBe(20)
      const height = () => page.evaluate<number>('document.documentElement.scrollHeight')
      const before = await height()
      await page.keyboard.press('End')
      await expect.poll(() => rows.count()).toBe(50)
      // The scroll bar hardly moves when they come.
      if (size === 'desktop') expect(Math.abs((await height()) - before)).toBeLessThan(before / 10)
      expect(await page.getByRole('navigation', { name: 'Views', includeHidden: true }).count(), size).toBe(1)
      await page.context().close()
    }
  })

  test('loads cards when they scroll into view', async () => {
    const { page } = await enter('phone')
    const requestedUrls: string[] = []
    page.on('request', (request) => requestedUrls.push(request.url()))
    const wasRequested = () =>
      requestedUrls.some((url) => /metrics\/refund_rate\?(?!\S*split)/.test(readsIn(url)))
    await page.goto('/revenue')
    await page.locator('.figure').first().waitFor()
    expect(wasRequested()).toBe(false)
    await page.getByRole('link', { name: 'Refund rate', exact: true }).scrollIntoViewIfNeeded()
    await expect.poll(wasRequested).toBe(true)
    await page.context().close()
  })

  test('draws charts in the colors of the theme', async () => {
    const { page } = await enter('desktop')
    // Past days only, because the demo keeps selling.
    await show(page, `/revenue?range=custom&from=${daysAgo(60)}&to=${daysAgo(30)}`)
    await page.locator('.chart canvas').first().waitFor()
    const picture = () => page.evaluate<string>("document.querySelector('.chart canvas').toDataURL()")
    const light = await picture()
    await page.getByRole('button', { name: 'Dark theme' }).first().click()
    await expect.poll(picture).not.toBe(light)
    await page.getByRole('button', { name: 'Light theme' }).first().click()
    await expect.poll(picture).toBe(light)
    await page.context().close()
  })

  test('maps every page address to a view', { timeout: 60_000 }, async () => {
    const { page } = await enter('desktop')
    for (const { path, view } of ADDRESSES) {
      await page.goto(path.replace(/:\w+/g, 'one'))
      await page.locator('main').first().waitFor()
      expect(await page.getByText('This page does not exist').count(), path).toBe(0)
      expect(await page.getByText('Something went wrong').count(), path).toBe(0)
      // A signed-in user is redirected from sign-in paths to the first view.
      if (view === 'sign_in') await page.waitForURL((url) => url.pathname === '/')
    }
    await page.context().close()
  })

  test('loads the view’s code in parallel with the session', async () => {
    const { page } = await enter('desktop')
    const shared = await (await page.request.get('/settings')).text()
    const ofView = page.waitForRequest((requestedUrls) => {
      const { pathname } = new URL(requestedUrls.url())
      return pathname.startsWith('/assets/part-') && !shared.includes(pathname)
    })
    await page.route('**/api/v1/session', async (route) => {
      await ofView
      await route.continue()
    })
    await show(page, '/revenue')
    await page.context().close()
  })

  test.for(['/', '/retention', '/subscriptions'])(
    'keeps the layout of %s stable while it loads',
    async (path) => {
      const { page } = await enter('desktop')
      await page.addInitScript({
        content: `globalThis.shifted = 0
        new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shifted += value })
          .observe({ type: 'layout-shift', buffered: true })`,
      })
      await show(page, path)
      // The threshold of a good score.
      expect(await page.evaluate<number>('shifted')).toBeLessThan(0.1)
      await page.context().close()
    },
  )

  test('supports navigation by keyboard alone', async () => {
    const { page } = await enter('desktop')
    await show(page, '/')
    await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to content')
    const focused = async (): Promise<string> =>
      page.evaluate<string>('document.activeElement.textContent.trim()')
    for (let steps = 0; steps < 12 && (await focused()) !== 'Revenue'; steps++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Revenue', level: 1 }).waitFor()
    await page.getByRole('button', { name: /^Date range:/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('radio', { name: '7 days' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('radio', { name: '7 days' }).waitFor({ state: 'hidden' })
    expect(await focused()).toContain('90 days')
    await page
      .getByRole('img', { name: /^Revenue/ })
      .first()
      .focus()
    await page.keyboard.press('End')
    await page.locator('.chart-tip').waitFor()
    await page.context().close()
  })

  test('keeps the cursor of a chart that is redrawn', async () => {
    const { page } = await enter('desktop')
    await show(page, `/revenue?range=custom&from=${daysAgo(60)}&to=${daysAgo(30)}`)
    await page
      .getByRole('img', { name: /^Revenue/ })
      .first()
      .focus()
    await page.keyboard.press('End')
    const tip = page.locator('.chart-tip')
    await tip.waitFor()
    const text = await tip.textContent()
    await page.evaluate("globalThis.drawn = document.querySelector('.chart canvas')")
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => page.evaluate<boolean>('drawn.isConnected')).toBe(false)
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    )
    expect(await tip.textContent()).toBe(text)
    await page.context().close()
  })

  test('works offline and reports it', async () => {
    const { page, context } = await enter('phone')
    await show(page, '/')
    await expect.poll(() => page.evaluate<boolean>('navigator.serviceWorker.controller !== null')).toBe(true)
    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()
    await page.reload()
    await page
      .getByText(/No connection|offline/i)
      .first()
      .waitFor()
    await context.setOffline(false)
    await page.context().close()
  })
})
