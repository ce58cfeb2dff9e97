/** Measures page loads in a throttled Chromium: opens a view and waits until it no longer changes. */
import { setTimeout as pass } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { preciseTime } from '../../../src/clock.ts'

/** Slows the processor by this factor to simulate a phone. */
const CPU_SLOWDOWN = 4
/** A view is complete after this time without a request or a paint. */
const QUIET_MS = 600
const TIMEOUT_MS = 60_000

/**
 * `last_paint`: the last paint of the visible part, in ms after the start of the navigation. `all_paint`: the last paint
 * of the whole page. `lcp`: the largest contentful paint in ms. `blocked`: the total blocking time, which is the time of
 * long tasks beyond 50 ms. `shifts`: the cumulative layout shift. `nodes`: the elements of the page. `bytes`: transferred
 * with headers, without the requests of the service worker.
 */
export type Loaded = {
  last_paint: number
  all_paint: number
  nodes: number
  lcp: number
  blocked: number
  shifts: number
  bytes: number
  answers: Answer[]
}
export type Answer = { path: string; ms: number }

/**
 * Runs in the page. Records the first frame after the last change of the document as the last paint. The visible part
 * has changed if a changed element is in the viewport; this is looked at in the frame, whose layout is due anyway.
 */
const PROBE = `{
  const probe = { from: 0, last_paint: 0, all_paint: 0, lcp: 0, blocked: 0, shifts: 0 }
  globalThis.windfallProbe = probe
  let changed_elements = new Set()
  const isVisible = (element) => {
    const { top, bottom, width } = element.getBoundingClientRect()
    return width > 0 && bottom > 0 && top < innerHeight
  }
  const inFrame = () => {
    const has_visible = [...changed_elements].some(isVisible)
    changed_elements = new Set()
    setTimeout(() => {
      probe.all_paint = performance.now()
      if (has_visible) probe.last_paint = probe.all_paint
    })
  }
  const changed = (records) => {
    if (changed_elements.size === 0) requestAnimationFrame(inFrame)
    for (const { target, addedNodes } of records) {
      const added = [...addedNodes].filter((node) => node instanceof Element)
      const own = target instanceof Element ? target : target.parentElement
      for (const element of added.length > 0 ? added : own ? [own] : []) changed_elements.add(element)
    }
  }
  new MutationObserver(changed).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  watch('largest-contentful-paint', (entry) => { probe.lcp = entry.startTime })
  watch('layout-shift', (entry) => { if (!entry.hadRecentInput) probe.shifts += entry.value })
  watch('longtask', (entry) => { if (entry.startTime >= probe.from) probe.blocked += entry.duration - 50 })
}`

type Probed = Pick<Loaded, 'lcp' | 'blocked' | 'shifts'> & {
  from: number
  last_paint: number
  all_paint: number
}

/** Records the requests of a page and their responses. Event streams do not count, because they never end. */
async function watchNetwork(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
  const requests = new Map<string, { path: string; at: number }>()
  let bytes = 0
  let answers: Answer[] = []
  session.on('Network.requestWillBeSent', ({ requestId, request, type, timestamp }) => {
    if (type !== 'EventSource') requests.set(requestId, { path: request.url, at: timestamp })
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength, timestamp }) => {
    const request = requests.get(requestId)
    requests.delete(requestId)
    bytes += encodedDataLength
    if (!request?.path.includes('/api/')) return
    const { pathname, search } = new URL(request.path)
    answers.push({ path: pathname + search, ms: (timestamp - request.at) * 1000 })
  })
  session.on('Network.loadingFailed', ({ requestId }) => requests.delete(requestId))
  return {
    isQuiet: () => requests.size === 0,
    /** Restarts the totals. Chromium does not report the end of requests of the previous page. */
    reset(): void {
      requests.clear()
      bytes = 0
      answers = []
    },
    totals: () => ({ bytes, answers }),
  }
}

const IS_SETTLED = `performance.now() - Math.max(windfallProbe.all_paint, windfallProbe.from) > ${QUIET_MS} &&
  document.querySelector('h1') !== null && [...document.querySelectorAll('.ghost, .is-earlier')]
    .every((one) => one.getBoundingClientRect().top > innerHeight)`

/** Opens a throttled tab. */
export async function openTab(context: BrowserContext) {
  const page = await context.newPage()
  await page.addInitScript({ content: PROBE })
  const network = await watchNetwork(page)

  async function untilSettled(what: string): Promise<Loaded> {
    const until = preciseTime() + TIMEOUT_MS
    while (!(network.isQuiet() && (await page.evaluate<boolean>(IS_SETTLED)))) {
      if (preciseTime() > until) throw new Error(`${what} was not complete after ${TIMEOUT_MS} ms`)
      await pass(100)
    }
    const { from, last_paint, all_paint, ...probed } = await page.evaluate<Probed>('windfallProbe')
    const nodes = await page.evaluate<number>('document.querySelectorAll("*").length')
    const paints = { last_paint: last_paint - from, all_paint: all_paint - from }
    return { ...probed, ...paints, nodes, ...network.totals() }
  }

  /** Loads the page at this address. */
  async function open(address: string): Promise<Loaded> {
    await page.goto('about:blank')
    network.reset()
    await page.goto(address, { waitUntil: 'commit' })
    return untilSettled(address)
  }

  /** Clicks the link to `path` in the navigation of the current view. */
  async function follow(path: string): Promise<Loaded> {
    network.reset()
    await page.evaluate(`{
      Object.assign(windfallProbe, { from: performance.now(), blocked: 0, shifts: 0 })
      document.querySelector('.nav a[href="${path}"]').click()
    }`)
    return untilSettled(path)
  }

  /** Resolves when the service worker is active and has filled its cache. */
  const serviceWorkerReady = (): Promise<unknown> =>
    page.evaluate('navigator.serviceWorker.ready.then(() => true)')

  return { page, open, follow, serviceWorkerReady }
}
