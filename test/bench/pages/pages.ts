/** Views of the dashboard of a large business in a throttled Chromium: cold, warm, and by a click. */
import { createServer } from 'node:http'
import { chromiumPath, launchProfile, SIZES } from '../../browser/chromium.ts'
import { type Bench, interleave, type Server } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { copyBusiness, ensureBusinessFile } from '../business/business_app.ts'
import { alignColumns, costAgainst, type Figure, formatShort, formatWhole, median } from '../figures.ts'
import { measureViewersOf } from '../load/concurrent_work.ts'
import { type Loaded, openTab } from './page_loads.ts'

/** The longest loads, as a multiple of the load of an empty page in the same round. */
const MAX_WARM_RATIO = 2
const MAX_COLD_RATIO = 3
/** Loads of the empty page until a browser that has just started is idle. */
const LOADS_UNTIL_IDLE = 3
/** Loads until Chromium has compiled code of all files in its cache. */
const LOADS_UNTIL_WARM = 3
/** The number of viewers, and the least fraction of the calls per second that must remain with them. */
const VIEWERS = 100
const MIN_SPEED_RATIO = 0.95
const VIEWS = [
  '/',
  '/revenue',
  '/subscriptions',
  '/retention',
  '/customers',
  '/events',
  '/metrics',
  '/metrics/mrr',
  '/settings',
]

/** Serves a page with only a heading and with the headers of the dashboard. */
async function openEmpty(url: string) {
  const { headers } = await fetch(url)
  const copied_headers = [...headers].filter(
    ([name]) => !/^(content-(length|encoding)|date|connection|keep-alive)$/.test(name),
  )
  const server = createServer((_, answer) => {
    for (const [name, value] of copied_headers) answer.setHeader(name, value)
    answer.end('<!doctype html><meta charset="utf-8"><title>Nothing</title><h1>Nothing</h1>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Site = { bench: Bench; url: string; token: string; empty: string }
/** `clicked`: null if the navigation has no link to the view. `empty`: the page with only a heading. */
type Round = { cold: Loaded; warm: Loaded; clicked: Loaded | null; empty: Loaded }

async function openSession({ bench, url, token }: Site) {
  const context = await launchProfile(bench.newFolder(), { ...SIZES.desktop, locale: 'en-US' })
  await context.addCookies([{ name: 'windfall', value: token, url, httpOnly: true, sameSite: 'Lax' }])
  return context
}

/** Opens a view in a profile of its own: with empty caches, with warm caches, and by a click from another view. */
async function measureView(site: Site, path: string): Promise<Round> {
  const context = await openSession(site)
  const { page, open, follow, serviceWorkerReady } = await openTab(context)
  for (let left = LOADS_UNTIL_IDLE; left > 0; left -= 1) await open(site.empty)
  const empty = await open(site.empty)
  const cold = await open(site.url + path)
  await serviceWorkerReady()
  for (let left = LOADS_UNTIL_WARM; left > 0; left -= 1) await open(site.url + path)
  const warm = await open(site.url + path)
  const isLinked = (await page.locator(`.nav a[href="${path}"]`).count()) > 0
  if (isLinked) await open(`${site.url}${path === '/settings' ? '/events' : '/settings'}`)
  const clicked = isLinked ? await follow(path) : null
  await context.close()
  return { cold, warm, clicked, empty }
}

const medianOf = (loads: readonly Loaded[], name: Exclude<keyof Loaded, 'answers'>): number =>
  median(loads.map((loaded) => loaded[name]))

function figuresOf(name: string, rounds: readonly Round[]): Figure[] {
  const paintsOf = (load: 'cold' | 'warm' | 'empty') => rounds.map((round) => round[load].last_paint)
  const empty = { name: 'an empty page', values: paintsOf('empty') }
  return [
    costAgainst(`${name}, warm load`, 'ms', paintsOf('warm'), empty, MAX_WARM_RATIO),
    costAgainst(`${name}, cold load`, 'ms', paintsOf('cold'), empty, MAX_COLD_RATIO),
  ]
}

const HEADINGS = [
  '',
  'last visible paint',
  'last paint',
  'largest paint (LCP)',
  'blocked (TBT)',
  'shifts (CLS)',
  'elements',
  'transferred',
  'API responses',
]

function rowOf(name: string, loads: readonly Loaded[]): string[] {
  return [
    name,
    `${formatWhole(medianOf(loads, 'last_paint'))} ms`,
    `${formatWhole(medianOf(loads, 'all_paint'))} ms`,
    `${formatWhole(medianOf(loads, 'lcp'))} ms`,
    `${formatWhole(medianOf(loads, 'blocked'))} ms`,
    medianOf(loads, 'shifts').toFixed(3),
    formatWhole(medianOf(loads, 'nodes')),
    `${formatShort(medianOf(loads, 'bytes') / 1000)} kB`,
    String(median(loads.map(({ answers }) => answers.length))),
  ]
}

function rowsOf(name: string, rounds: readonly Round[]): string[][] {
  const clicked = rounds.flatMap((round) => round.clicked ?? [])
  // LCP is left out: Chromium does not measure it again after a click.
  const [label = '', last_paint = '', all_paint = '', , ...others] =
    clicked.length > 0 ? rowOf(`${name}, by a click`, clicked) : []
  return [
    rowOf(
      `${name}, cold`,
      rounds.map(({ cold }) => cold),
    ),
    rowOf(
      `${name}, warm`,
      rounds.map(({ warm }) => warm),
    ),
    ...(clicked.length > 0 ? [[label, last_paint, all_paint, '', ...others]] : []),
  ]
}

/** The three slowest API responses of a warm load. */
function slowestOf(rounds: readonly Round[]): string {
  const answers = rounds.flatMap(({ warm }) => warm.answers).toSorted((a, b) => b.ms - a.ms)
  return answers
    .slice(0, 3)
    .map(({ path, ms }) => `${path} ${formatWhole(ms)} ms`)
    .join(', ')
}

async function measureViews(bench: Bench, site: Site): Promise<Figure[]> {
  const get = await fetch(`${site.url}/api/v1/customers?sort=ltv`, {
    headers: { cookie: `windfall=${site.token}` },
  })
  const { customers } = (await get.json()) as { customers: { id: string }[] }
  const paths = [...VIEWS, `/customers/${customers[0]?.id}`]
  const rounds = await interleave(
    bench.sizes.rounds,
    Object.fromEntries(paths.map((path) => [path, () => measureView(site, path)])),
  )
  const roundsByView = Object.entries(rounds).map(
    ([path, of]) => [path.replace(/cus_.*/, '…'), of] as [string, Round[]],
  )
  const baselines = roundsByView.flatMap(([, of]) => of.map(({ empty }) => empty))
  bench.print(
    `\n${alignColumns([HEADINGS, rowOf('an empty page', baselines), ...roundsByView.flatMap(([name, of]) => rowsOf(name, of))])}\n`,
  )
  for (const [name, of] of roundsByView)
    bench.print(`pages: ${name} has its slowest responses from ${slowestOf(of)}`)
  return roundsByView.flatMap(([name, of]) => figuresOf(name, of))
}

async function measureInBrowser(bench: Bench, server: Server): Promise<Figure[]> {
  if (chromiumPath === null) {
    bench.print(
      'pages: this machine has no Chromium, so no view is measured; install it with `apt-get install chromium`',
    )
    return []
  }
  const { token } = await server.request<{ token: string }>({ session: true })
  const empty = await openEmpty(server.url)
  try {
    return await measureViews(bench, { bench, url: server.url, token, empty: empty.url })
  } finally {
    await empty.close()
  }
}

export async function measurePages(bench: Bench): Promise<Figure[]> {
  const file = copyBusiness(bench, await ensureBusinessFile(bench))
  const server = await bench.serve({ kind: 'windfall', file, at: BUSINESS_UNTIL })
  const figures = await measureInBrowser(bench, server)
  await server.close()
  return [...figures, ...(await measureViewersOf(bench, VIEWERS, MIN_SPEED_RATIO))]
}
