/** Measures one view in a throttled Chromium: opens it and waits until all requests are done. */
import type { BrowserContext, Page } from 'playwright-core'

/** A processor four times as slow as this one stands for a phone. */
const CPU_SLOWDOWN = 4
/** For so long nothing has been asked or drawn: it is there. */
const QUIET_MS = 600
const TIMEOUT_MS = 60_000

/**
 * `drawn`: when it was painted for the last time, in ms after the navigation began. `lcp`: the largest part. `blocked`:
 * what of tasks lies beyond 50 ms. `shifts`: how far things jumped, as Chromium counts it. `bytes`: on the wire, with
 * headers; of the page, not of its service worker.
 */
export type Loaded = {
  drawn: number
  lcp: number
  blocked: number
  shifts: number
  bytes: number
  answers: Answer[]
}
export type Answer = { path: string; ms: number }

/** A frame after each change of the document is a paint; that of the last one is remembered. */
const PROBE = `{
  const probe = { from: 0, drawn: 0, lcp: 0, blocked: 0, shifts: 0 }
  globalThis.windfallProbe = probe
  let isDue = false
  const painted = () => { isDue = false; probe.drawn = performance.now() }
  const changed = () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => setTimeout(painted))
  }
  new MutationObserver(changed).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  watch('largest-contentful-paint', (entry) => { probe.lcp = entry.startTime })
  watch('layout-shift', (entry) => { if (!entry.hadRecentInput) probe.shifts += entry.value })
  watch('longtask', (entry) => { if (entry.startTime >= probe.from) probe.blocked += entry.duration - 50 })
}`

type Probed = Pick<Loaded, 'lcp' | 'blocked' | 'shifts'> & { from: number; drawn: number }

/** What the page has asked for, and what of it is on its way; a stream is never over and does not count. */
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
    /** Begins to count anew; of what a page that was left had asked for nothing is heard any more. */
    reset(): void {
      requests.clear()
      bytes = 0
      answers = []
    },
    totals: () => ({ bytes, answers }),
  }
}

const IS_SETTLED = `performance.now() - Math.max(windfallProbe.drawn, windfallProbe.from) > ${QUIET_MS} &&
  document.querySelector('h1') !== null && [...document.querySelectorAll('.ghost, .is-earlier')]
    .every((one) => one.getBoundingClientRect().top > innerHeight)`

/** Somebody's tab, slowed. */
export async function openTab(context: BrowserContext) {
  const page = await context.newPage()
  await page.addInitScript({ content: PROBE })
  const network = await watchNetwork(page)

  async function untilSettled(what: string): Promise<Loaded> {
    const until = performance.now() + TIMEOUT_MS
    while (!(network.isQuiet() && (await page.evaluate<boolean>(IS_SETTLED)))) {
      if (performance.now() > until) throw new Error(`${what} was not there after ${TIMEOUT_MS} ms`)
      await page.waitForTimeout(100)
    }
    const { from, drawn, ...probed } = await page.evaluate<Probed>('windfallProbe')
    return { ...probed, drawn: drawn - from, ...network.totals() }
  }

  /** Loads the page anew at this address. */
  async function open(address: string): Promise<Loaded> {
    await page.goto('about:blank')
    network.reset()
    await page.goto(address, { waitUntil: 'commit' })
    return untilSettled(address)
  }

  /** Follows the navigation's link there, from the view that is shown. */
  async function follow(path: string): Promise<Loaded> {
    network.reset()
    await page.evaluate(`{
      Object.assign(windfallProbe, { from: performance.now(), blocked: 0, shifts: 0 })
      document.querySelector('.nav a[href="${path}"]').click()
    }`)
    return untilSettled(path)
  }

  /** The service worker has kept what it keeps. */
  const serviceWorkerReady = (): Promise<unknown> =>
    page.evaluate('navigator.serviceWorker.ready.then(() => true)')

  return { page, open, follow, serviceWorkerReady }
}
