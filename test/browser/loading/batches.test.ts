/** How a view loads: one request for what is visible, the rest when the page is idle, each card with its own status. */
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openAlertingApp, purchase } from '../../alerts/alerting.ts'
import { handClock } from '../../helpers.ts'
import { hasChromium, launch } from '../chromium.ts'
import { visitAsOwner } from '../owned.ts'
import { settled, show } from '../views.ts'

const memoryOf = (page: Page) => page.evaluate<string>("localStorage.getItem('reads') ?? ''")

/** The reads of a request: the paths of a batch, or its own. */
const readsOf = (request: Request): string[] => {
  const { pathname, search, searchParams } = new URL(request.url())
  const path = pathname.slice('/api/v1/'.length)
  return path === 'batch' ? (searchParams.get('get') ?? '').split(' ') : [`${path}${search}`]
}

/** Collects the reads of each request of the API from now on. */
function watchRequests(page: Page): string[][] {
  const requests: string[][] = []
  page.on('request', (request) => {
    if (/\/api\/v1\/(?!events\/stream)/.test(request.url())) requests.push(readsOf(request))
  })
  return requests
}

/**
 * Opens a view until all of its reads that begin with `read` are remembered. A slow machine seems idle before it has asked
 * for all figures.
 */
async function untilRemembered(page: Page, path = '/revenue', read = 'metrics/revenue?'): Promise<void> {
  await vi.waitFor(async () => {
    const requests = watchRequests(page)
    await show(page, path)
    const reads = requests.flat().filter((one) => one.startsWith(read))
    expect(reads).not.toEqual([])
    const remembered = async () => Object.values(JSON.parse((await memoryOf(page)) || '{}')).flat()
    await expect.poll(remembered, { timeout: 5_000 }).toEqual(expect.arrayContaining(reads))
  }, 60_000)
}

/**
 * Counts in the page the placeholders and what shifts. The first rendering waits longer than the 400 ms of main.tsx, so
 * that a slow machine has the answers in time.
 */
const WATCHED_LOAD = `{
  globalThis.load = { shifts: 0, placeholders: 0 }
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) load.shifts += value
  }).observe({ type: 'layout-shift', buffered: true })
  new MutationObserver((records) => {
    for (const { addedNodes } of records)
      for (const node of addedNodes)
        if (node instanceof Element && (node.matches('.ghost') || node.querySelector('.ghost'))) load.placeholders += 1
  }).observe(document, { subtree: true, childList: true })
  const later = setTimeout
  globalThis.setTimeout = (work, ms, ...rest) => later(work, ms === 400 ? 30_000 : ms, ...rest)
}`

describe.skipIf(!hasChromium())('a view', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function enter() {
    const app = await openAlertingApp({ clock: handClock(Date.now()) })
    await purchase({ app, type: 'SUBSCRIBED' })
    await app.windfall.metrics.whenCurrent()
    return { app, ...(await visitAsOwner(browser, app, 'desktop')) }
  }

  const namesIn = (reads: readonly string[] = []): string[] => reads.map((read) => read.replace(/\?.*/, ''))

  test('reads its visible cards in one request, and those near to them once the page is idle', async () => {
    const { page } = await enter()
    await show(page, '/')
    const requests = watchRequests(page)
    await page.locator('.nav').getByRole('link', { name: 'Revenue' }).click()
    await page.getByRole('link', { name: 'Refund rate', exact: true }).waitFor()
    await expect.poll(() => requests.flatMap(namesIn)).toContain('metrics/refund_rate')
    const first = requests.findIndex((reads) => namesIn(reads).includes('metrics/revenue'))
    const second = requests.findIndex((reads) => namesIn(reads).includes('metrics/refund_rate'))
    expect(second).toBeGreaterThan(first)
    expect(namesIn(requests[first]).filter((name) => name === 'metrics/revenue').length).toBeGreaterThan(3)
    await page.context().close()
  })

  test('shows every card but the one that fails, which is read again alone', async () => {
    const { page } = await enter()
    let isBroken = true
    /** The tile compares, the card does not. */
    const isOfCard = (read = '') => read.startsWith('metrics/churn_rate?') && !read.includes('compare=')
    const problem = {
      status: 400,
      code: 'invalid_request',
      title: 'Bad Request',
      detail: 'broken for a test',
    }
    await page.route('**/api/v1/batch?**', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { answers: object[] }
      const reads = readsOf(route.request())
      const answers = body.answers.map((answer, at) =>
        isBroken && isOfCard(reads[at]) ? { status: 400, retry_after: null, body: problem } : answer,
      )
      await route.fulfill({ response, json: { answers } })
    })
    await show(page, '/subscriptions')
    const card = page.locator('section.card', { hasText: 'Is churn getting worse?' })
    await card.getByText('Broken for a test').waitFor()
    const others = page.locator('section.card', { hasNotText: 'Is churn getting worse?' })
    expect(await others.getByText('Something went wrong').count()).toBe(0)
    expect(await page.locator('.key-figures .figure').first().textContent()).toBe('$4.99')
    isBroken = false
    const requests = watchRequests(page)
    await card.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => requests.length).toBeGreaterThan(0)
    await expect.poll(() => card.getByText('Something went wrong').count()).toBe(0)
    expect(requests[0]?.every((read) => read.startsWith('metrics/churn_rate?'))).toBe(true)
    await settled(page)
    expect(await page.getByText('Something went wrong').count()).toBe(0)
    await page.context().close()
  })

  test('reads in parallel with the session what its charts wait for', async () => {
    const { page } = await enter()
    await show(page, '/')
    let release = (): void => {}
    const early = new Promise<void>((resolve) => {
      release = resolve
    })
    page.on('request', (request) => {
      const names = namesIn(readsOf(request))
      if (['apps', 'metrics', 'overview'].every((name) => names.includes(name))) release()
    })
    // The session is answered only after the other reads were sent.
    await page.route('**/api/v1/session', async (route) => {
      await early
      await route.continue()
    })
    await show(page, '/revenue')
    await page.locator('.figure').first().waitFor()
    await page.context().close()
  })

  test('reads all that it showed in one request, before its code starts, when it is loaded again', async () => {
    const { page } = await enter()
    await untilRemembered(page)
    let hasCode = false
    page.on('request', (request) => {
      if (request.url().includes('/assets/part-')) hasCode = true
    })
    const requests = watchRequests(page)
    // No code is there before the figures were requested.
    await page.route('**/assets/part-*', async (route) => {
      await expect.poll(() => requests.flat().some((read) => read.startsWith('metrics/revenue?'))).toBe(true)
      await route.continue()
    })
    await page.reload()
    await page.locator('.figure').first().waitFor()
    await settled(page)
    expect(hasCode).toBe(true)
    const figures = requests.filter((reads) => reads.some((read) => read.startsWith('metrics/revenue?')))
    expect(figures.length).toBe(1)
    expect(namesIn(figures[0])).toEqual(expect.arrayContaining(['apps', 'metrics', 'overview']))
    await page.context().close()
  })

  test('renders a view that was loaded before once, and nothing moves', async () => {
    const { page } = await enter()
    await untilRemembered(page, '/', 'today')
    await page.addInitScript({ content: WATCHED_LOAD })
    await show(page, '/')
    await page.locator('.figure').first().waitFor()
    await settled(page)
    expect(await page.evaluate('load')).toEqual({ shifts: 0, placeholders: 0 })
    await page.context().close()
  })

  test('begins with placeholders while the answers to its early reads take long', async () => {
    const { page } = await enter()
    await untilRemembered(page)
    const answered = Promise.withResolvers<void>()
    await page.route('**/api/v1/batch?**', async (route) => {
      await answered.promise
      await route.continue()
    })
    await page.goto('/revenue')
    await page.locator('.ghost').first().waitFor()
    answered.resolve()
    await page.locator('.figure').first().waitFor()
    await page.context().close()
  })

  test('reads the session again when it fails after the first rendering', async () => {
    const { page } = await enter()
    await untilRemembered(page)
    const rendered = Promise.withResolvers<void>()
    await page.exposeFunction('noteRendering', rendered.resolve)
    await page.addInitScript({
      content: `{
        const later = setTimeout
        globalThis.setTimeout = (work, ms, ...rest) =>
          later(ms === 400 ? () => { work(); noteRendering() } : work, ms, ...rest)
      }`,
    })
    let isFirst = true
    await page.route('**/api/v1/session', async (route) => {
      if (!isFirst) return route.continue()
      isFirst = false
      await rendered.promise
      await route.fulfill({ status: 503, json: {} })
    })
    await page.goto('/revenue')
    await page.locator('.figure').first().waitFor()
    await page.context().close()
  })

  test('reads the newest events with the figures of Today, and once more when the stream is open', async () => {
    const { app, page } = await enter()
    await untilRemembered(page, '/', 'events?')
    const opened = Promise.withResolvers<void>()
    await page.route('**/api/v1/events/stream**', async (route) => {
      await opened.promise
      await route.continue()
    })
    const requests = watchRequests(page)
    const withFeed = () => requests.filter((reads) => namesIn(reads).includes('events'))
    const rows = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
    await show(page, '/')
    await rows.first().waitFor()
    expect(withFeed().map(namesIn)).toEqual([expect.arrayContaining(['today', 'status', 'events'])])
    // A sale between the first read and the stream, and one on the stream.
    const before = await rows.count()
    await purchase({ app })
    opened.resolve()
    await expect.poll(() => rows.count()).toBeGreaterThan(before)
    expect(withFeed()).toHaveLength(2)
    const between = await rows.count()
    await purchase({ app })
    await expect.poll(() => rows.count()).toBeGreaterThan(between)
    expect(withFeed()).toHaveLength(2)
    await page.context().close()
  })

  test('reads again what was refused early, and remembers nothing after signing out', async () => {
    const { page } = await enter()
    await untilRemembered(page)
    const memory = () => memoryOf(page)
    let isFirst = true
    await page.route('**/api/v1/batch?**', async (route) => {
      if (!isFirst) return route.continue()
      isFirst = false
      await route.fulfill({ status: 503, json: {} })
    })
    await show(page, '/revenue')
    await page.locator('.figure').first().waitFor()
    expect(await page.getByText('Something went wrong').count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await expect.poll(memory).toBe('')
    await page.context().close()
  })

  test('animates nothing endlessly that needs a new style for each frame', async () => {
    const { page } = await enter()
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await show(page, '/')
    const endless = () =>
      page.evaluate<string[]>(`document.getAnimations()
        .filter(({ effect }) => effect.getTiming().iterations === Infinity)
        .flatMap(({ effect }) => effect.getKeyframes().flatMap(Object.keys))
        .filter((name) => !['offset', 'computedOffset', 'easing', 'composite'].includes(name))`)
    await expect.poll(endless).toContain('transform')
    expect(new Set(await endless())).toEqual(new Set(['opacity', 'transform']))
    await page.context().close()
  })
})
