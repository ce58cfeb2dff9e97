/** A complete first connect to the simulated App Store: the app list, a year of reports, and the histories. */
import { preciseTime } from '../../../src/clock.ts'
import type { Bench, Server } from '../bench.ts'
import { alignColumns, atMost, costAgainst, type Figure, formatShort, formatWhole } from '../figures.ts'
import type { AppleRequest, Counts, Imported, Refreshed } from '../servers/apple_work.ts'
import type { AppStore, AppStoreRequest, RequestCount, Tally } from './app_store.ts'

const YEAR = 365
/** Apple's hourly limits: per key for App Store Connect, per app and endpoint for the App Store Server API. */
const HOURLY_LIMITS = { connect: 3_500, production: 180_000, sandbox: 18_000 }

/** `app`: the app whose limit the requests count against; null for the limit of the key. */
type AppRequests = RequestCount & { app: string | null }

const STEPS: readonly [name: string, kinds: readonly RequestCount['kind'][]][] = [
  ['apps, teams, products', ['connect']],
  ['a year of four reports a day', ['reports']],
  ['notifications of 180 days', ['notifications']],
  ['histories of transactions', ['transactions']],
  ['statuses', ['statuses']],
]

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0)

/** The least number of seconds in which Apple's limits allow these requests. The limits apply in parallel. */
function secondsByLimits(requests_sent: readonly AppRequests[]): number {
  const budgets = Map.groupBy(requests_sent, ({ host, kind, app }) =>
    host === 'connect' ? host : `${host} ${kind} ${app}`,
  )
  const hours = [...budgets.values()].map((of) =>
    sum(of.map(({ host, requests }) => requests / HOURLY_LIMITS[host])),
  )
  return Math.max(0, ...hours) * 3_600
}

const secondsOf = (requests_sent: readonly AppRequests[]): number =>
  sum(requests_sent.map(({ from, until }) => until - from)) / 1000

function tableOfSteps(requests_sent: readonly AppRequests[]): string {
  const lines = STEPS.map(([name, kinds]) => {
    const of = requests_sent.filter(({ kind }) => kinds.includes(kind))
    const requests = sum(of.map((one) => one.requests))
    const seconds = secondsOf(of)
    return [
      name,
      formatWhole(requests),
      formatShort(seconds),
      formatWhole(requests / seconds),
      formatShort(secondsByLimits(of)),
    ]
  })
  return alignColumns([['step', 'requests', 'seconds', 'requests/s', 'seconds by Apple’s limits'], ...lines])
}

/** Runs the work that `windfall connect` starts, one step after another, without the exchange rates. */
async function connect(server: Server, tally: () => Promise<Tally>) {
  const request = <Answer>(message: AppleRequest) => server.request<Answer>(message)
  const requests_sent: AppRequests[] = []
  let busy = 0
  async function record(app: string | null): Promise<void> {
    const { requests, busy_seconds } = await tally()
    busy += busy_seconds
    requests_sent.push(...requests.map((one) => ({ ...one, app })))
  }

  await tally()
  const began = preciseTime()
  const { bundle_ids } = await request<Refreshed>({ apple: 'refresh' })
  await request<Imported>({ apple: 'import', days: YEAR })
  await record(null)
  for (const bundle_id of bundle_ids) {
    await request({ apple: 'backfill', bundle_id })
    await record(bundle_id)
  }
  const seconds = (preciseTime() - began) / 1000
  return { requests_sent, seconds, busy: busy / seconds }
}

export async function measureFirstConnect(bench: Bench): Promise<Figure[]> {
  const { store_subscribers: subscribers } = bench.sizes
  // Fifty thousand subscribers need more memory than Node's default.
  const child = bench.start('import/app_store.ts', ['--max-old-space-size=8000'])
  const storeRequest = <Answer>(message: AppStoreRequest) => child.request<Answer>(message)
  const store = await storeRequest<AppStore>({ open: { subscribers } })
  const { account: apple, roots } = store
  const file = await bench.newDatabase(0)
  const server = await bench.serve({ kind: 'windfall', file, roots, apple })
  const { requests_sent, seconds, busy } = await connect(server, () => storeRequest<Tally>({ tally: true }))
  const counts = await server.request<Counts>({ apple: 'counts' })
  await server.close()
  await child.close()

  bench.print(`\nfirst connect to a store with ${formatWhole(subscribers)} subscribers over two years`)
  bench.print(tableOfSteps(requests_sent))
  bench.print(
    `In the ledger: ${formatWhole(counts.report_rows)} rows of reports, ${formatWhole(counts.notifications)} notifications, ${formatWhole(counts.transactions)} transactions; ${formatWhole(counts.statuses)} statuses requested.`,
  )
  bench.print(
    `The simulated store started in ${formatShort(store.seconds)} s and was busy for ${formatWhole(busy * 100)} % of the connect.`,
  )
  const limits = { name: 'Apple’s hourly limits', values: [secondsByLimits(requests_sent)] }
  const name = `first connect, ${formatWhole(subscribers)} subscribers`
  const secondsFor = (kinds: readonly RequestCount['kind'][]) =>
    secondsOf(requests_sent.filter(({ kind }) => kinds.includes(kind)))
  return [
    costAgainst(name, 's', [seconds], limits, null),
    atMost(`${name}, reports`, secondsFor(['reports']), 's', null),
    atMost(`${name}, histories`, secondsFor(['notifications', 'transactions', 'statuses']), 's', null),
  ]
}
