/** A whole first connect to the simulated App Store: its lists, a year of its reports, its histories. */

import type { Bench, Server } from '../bench.ts'
import { below, columns, type Figure, short, whole, within } from '../figures.ts'
import type { AppleRequest, Counts, Imported, Refreshed } from '../servers/apple_work.ts'
import type { AppStore, AppStoreRequest, RequestCount, Tally } from './app_store.ts'

const YEAR = 365
/** What Apple answers in an hour: to one key, and to one app for each kind of question. */
const HOURLY = { connect: 3_500, production: 180_000, sandbox: 18_000 }

/** `app` is whose budget the requests are of; null for the key's. */
type Spent = RequestCount & { app: string | null }

const STEPS: readonly [name: string, kinds: readonly RequestCount['kind'][]][] = [
  ['apps, teams, products', ['connect']],
  ['a year of four reports a day', ['reports']],
  ['notifications of 180 days', ['notifications']],
  ['histories of transactions', ['transactions']],
  ['statuses', ['statuses']],
]

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0)

/** Seconds in which Apple would answer all of it at best: budgets are spent side by side. */
function secondsAtBest(spent: readonly Spent[]): number {
  const budgets = Map.groupBy(spent, ({ host, kind, app }) =>
    host === 'connect' ? host : `${host} ${kind} ${app}`,
  )
  const hours = [...budgets.values()].map((of) =>
    sum(of.map(({ host, requests }) => requests / HOURLY[host])),
  )
  return Math.max(0, ...hours) * 3_600
}

const secondsOf = (spent: readonly Spent[]): number =>
  sum(spent.map(({ from, until }) => until - from)) / 1000

function tableOfSteps(spent: readonly Spent[]): string {
  const lines = STEPS.map(([name, kinds]) => {
    const of = spent.filter(({ kind }) => kinds.includes(kind))
    const requests = sum(of.map((one) => one.requests))
    const seconds = secondsOf(of)
    return [name, whole(requests), short(seconds), whole(requests / seconds), short(secondsAtBest(of))]
  })
  return columns([['step', 'requests', 'seconds', 'requests/s', 'seconds by Apple’s limits'], ...lines])
}

/** Everything that `windfall connect` sets going, one after the other; exchange rates are not Apple's. */
async function connect(server: Server, tally: () => Promise<Tally>) {
  const request = <Answer>(question: AppleRequest) => server.request<Answer>(question)
  const spent: Spent[] = []
  let busy = 0
  async function note(app: string | null): Promise<void> {
    const { requests, busy_seconds } = await tally()
    busy += busy_seconds
    spent.push(...requests.map((one) => ({ ...one, app })))
  }

  await tally()
  const began = performance.now()
  const { bundle_ids } = await request<Refreshed>({ apple: 'refresh' })
  await request<Imported>({ apple: 'import', days: YEAR })
  await note(null)
  for (const bundle_id of bundle_ids) {
    await request({ apple: 'backfill', bundle_id })
    await note(bundle_id)
  }
  const seconds = (performance.now() - began) / 1000
  return { spent, seconds, busy: busy / seconds }
}

export async function measureFirstConnect(workshop: Bench): Promise<Figure[]> {
  const { store_subscribers: subscribers } = workshop.sizes
  // So many customers need more than is usual.
  const child = workshop.start('import/app_store.ts', ['--max-old-space-size=8000'])
  const asked = <Answer>(question: AppStoreRequest) => child.request<Answer>(question)
  const store = await asked<AppStore>({ open: { subscribers } })
  const { account: apple, roots } = store
  const file = await workshop.databaseOf(0)
  const server = await workshop.serve({ kind: 'windfall', file, roots, apple })
  const { spent, seconds, busy } = await connect(server, () => asked<Tally>({ tally: true }))
  const counts = await server.request<Counts>({ apple: 'counts' })
  await server.close()
  await child.close()

  workshop.print(`\na first connect to a store with ${whole(subscribers)} subscribers over two years`)
  workshop.print(tableOfSteps(spent))
  workshop.print(
    `In the ledger: ${whole(counts.report_rows)} rows of reports, ${whole(counts.notifications)} notifications, ${whole(counts.transactions)} transactions; ${whole(counts.statuses)} statuses asked for.`,
  )
  workshop.print(
    `The simulated store was ready after ${short(store.seconds)} s, and at work for ${whole(busy * 100)} % of the connect.`,
  )
  const limits = { name: 'Apple’s hourly limits', values: [secondsAtBest(spent)] }
  const name = `first connect, ${whole(subscribers)} subscribers`
  const countOf = (kinds: readonly RequestCount['kind'][]) =>
    secondsOf(spent.filter(({ kind }) => kinds.includes(kind)))
  return [
    within(name, 's', [seconds], limits, null),
    below(`${name}, the reports`, countOf(['reports']), 's', null),
    below(`${name}, the histories`, countOf(['notifications', 'transactions', 'statuses']), 's', null),
  ]
}
