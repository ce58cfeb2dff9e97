/** The dashboard of a large business in a throttled Chromium: each view cold, warm and by a click; live viewers. */
import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { chromiumPath, launch, SIZES } from '../../browser/chromium.ts'
import { type Bench, inTurn, type Server } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { businessFile, copyOf } from '../business/business_app.ts'
import { below, columns, type Figure, median, short, whole } from '../figures.ts'
import { measureViewersOf } from '../load/concurrent_work.ts'
import { type Loaded, openTab } from './page_loads.ts'

const DRAWN_MS = 300
const MOST_KB = 90
/** How many look on, and what of the speed without them has to be left. */
const VIEWERS = 100
const SPEED_LEFT = 0.95
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

/** A page with a heading and nothing else, told with the headers of the dashboard's. */
async function openEmpty(url: string) {
  const { headers } = await fetch(url)
  const same = [...headers].filter(
    ([name]) => !/^(content-(length|encoding)|date|connection|keep-alive)$/.test(name),
  )
  const server = createServer((_, answer) => {
    for (const [name, value] of same) answer.setHeader(name, value)
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

type Site = { browser: Browser; url: string; token: string; empty: string }
/** `clicked`: null where no link of the navigation leads. */
type Round = { cold: Loaded; warm: Loaded; clicked: Loaded | null; floor: Loaded }

async function enter({ browser, url, token }: Site) {
  const context = await browser.newContext({ ...SIZES.desktop, locale: 'en-US' })
  await context.addCookies([{ name: 'windfall', value: token, url, httpOnly: true, sameSite: 'Lax' }])
  return context
}

/** By somebody who was never here, by the same again, and by one who comes from another view. */
async function look(site: Site, path: string): Promise<Round> {
  const context = await enter(site)
  const { page, open, follow, kept } = await openTab(context)
  const floor = await open(site.empty)
  const cold = await open(site.url + path)
  await kept()
  const warm = await open(site.url + path)
  const isLinked = (await page.locator(`.nav a[href="${path}"]`).count()) > 0
  if (isLinked) await open(`${site.url}${path === '/settings' ? '/events' : '/settings'}`)
  const clicked = isLinked ? await follow(path) : null
  await context.close()
  return { cold, warm, clicked, floor }
}

const medianOf = (loads: readonly Loaded[], name: Exclude<keyof Loaded, 'answers'>): number =>
  median(loads.map((loaded) => loaded[name]))

function figuresOf(name: string, rounds: readonly Round[]): Figure[] {
  const warm = rounds.map((round) => round.warm)
  const floors = rounds.map(({ floor }) => floor)
  const bytes = medianOf(
    rounds.map(({ cold }) => cold),
    'bytes',
  )
  return [
    {
      ...below(`${name}, drawn whole, warm`, medianOf(warm, 'drawn'), 'ms', DRAWN_MS),
      floor: `an empty page: ${short(medianOf(floors, 'drawn'))} ms`,
      ratio: median(rounds.map((round) => round.warm.drawn / round.floor.drawn)),
    },
    {
      ...below(`${name}, on the wire for the first time`, bytes / 1000, 'kB', MOST_KB),
      floor: `an empty page: ${short(medianOf(floors, 'bytes') / 1000)} kB`,
    },
  ]
}

const HEADINGS = [
  '',
  'drawn whole',
  'largest part (LCP)',
  'blocked (TBT)',
  'shifts (CLS)',
  'on the wire',
  'answers',
]

function rowOf(name: string, loads: readonly Loaded[]): string[] {
  return [
    name,
    `${whole(medianOf(loads, 'drawn'))} ms`,
    `${whole(medianOf(loads, 'lcp'))} ms`,
    `${whole(medianOf(loads, 'blocked'))} ms`,
    medianOf(loads, 'shifts').toFixed(3),
    `${short(medianOf(loads, 'bytes') / 1000)} kB`,
    String(median(loads.map(({ answers }) => answers.length))),
  ]
}

function rowsOf(name: string, rounds: readonly Round[]): string[][] {
  const clicked = rounds.flatMap((round) => round.clicked ?? [])
  // What was there before the click is not painted anew: its largest part is the first view's.
  const [label = '', drawn = '', , ...others] =
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
    ...(clicked.length > 0 ? [[label, drawn, '', ...others]] : []),
  ]
}

/** What a view waited for longest when it was warm. */
function slowestOf(rounds: readonly Round[]): string {
  const answers = rounds.flatMap(({ warm }) => warm.answers).toSorted((a, b) => b.ms - a.ms)
  return answers
    .slice(0, 3)
    .map(({ path, ms }) => `${path} ${whole(ms)} ms`)
    .join(', ')
}

async function measureViews(workshop: Bench, site: Site): Promise<Figure[]> {
  const get = await fetch(`${site.url}/api/v1/customers?sort=ltv`, {
    headers: { cookie: `windfall=${site.token}` },
  })
  const { customers } = (await get.json()) as { customers: { id: string }[] }
  const paths = [...VIEWS, `/customers/${customers[0]?.id}`]
  const rounds = await inTurn(
    workshop.sizes.tail_rounds,
    Object.fromEntries(paths.map((path) => [path, () => look(site, path)])),
  )
  const named = Object.entries(rounds).map(
    ([path, of]) => [path.replace(/cus_.*/, '…'), of] as [string, Round[]],
  )
  const floors = named.flatMap(([, of]) => of.map(({ floor }) => floor))
  workshop.print(
    `\n${columns([HEADINGS, rowOf('an empty page', floors), ...named.flatMap(([name, of]) => rowsOf(name, of))])}\n`,
  )
  for (const [name, of] of named) workshop.print(`pages: ${name} waited longest for ${slowestOf(of)}`)
  return named.flatMap(([name, of]) => figuresOf(name, of))
}

async function measureInBrowser(workshop: Bench, server: Server): Promise<Figure[]> {
  if (chromiumPath === null) {
    workshop.print('pages: no Chromium on this machine, so no view is measured: `apt-get install chromium`')
    return []
  }
  const { token } = await server.request<{ token: string }>({ session: true })
  const empty = await openEmpty(server.url)
  const browser = await launch()
  try {
    return await measureViews(workshop, { browser, url: server.url, token, empty: empty.url })
  } finally {
    await browser.close()
    await empty.close()
  }
}

export async function measurePages(workshop: Bench): Promise<Figure[]> {
  const file = copyOf(workshop, await businessFile(workshop))
  const server = await workshop.serve({ kind: 'windfall', file, at: BUSINESS_UNTIL })
  const figures = await measureInBrowser(workshop, server)
  await server.close()
  return [...figures, ...(await measureViewersOf(workshop, VIEWERS, SPEED_LEFT))]
}
