/** Metrics of millions of transactions: charts of a year, customers, cohorts, upkeep, and a comparison with DuckDB. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { type Bench, interleave } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { type BusinessApp, copyBusiness, ensureBusinessFile, openBusiness } from '../business/business_app.ts'
import { atLeast, atMost, type Figure, formatWhole, median, p99 } from '../figures.ts'
import { compareWithAlone, identifyLoad } from '../load/concurrent_work.ts'
import { measureDuckdb } from './duckdb.ts'
import { measureUpkeep } from './upkeep.ts'

const DAY = 86_400_000
const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10)
/** The query of a year that ends today. */
export const YEAR = `from=${isoDay(BUSINESS_UNTIL - 364 * DAY)}&to=${isoDay(BUSINESS_UNTIL)}`
const SPLITS = [null, 'app', 'product', 'country', 'period', 'offer'] as const

type Chart = { path: string; metric: string; split: string | null }

/** Lists the charts of a year by day: each metric without a split and with each of its splits. */
async function chartsOf({ get }: BusinessApp): Promise<Chart[]> {
  const { answer } = await get<{ metrics: { name: string; splits: string[] }[] }>('metrics')
  const splitsOf = new Map(answer.metrics.map(({ name, splits }) => [name, splits]))
  return METRIC_NAMES.flatMap((metric) =>
    SPLITS.filter((split) => split === null || splitsOf.get(metric)?.includes(split)).map((split) => ({
      path: `metrics/${metric}?${YEAR}${split === null ? '' : `&split=${split}`}`,
      metric,
      split,
    })),
  )
}

/** Measures the first request of each chart after the start, and repeated requests for the median and the p99. */
async function measureCharts({ sizes, print }: Bench, app: BusinessApp): Promise<Figure[]> {
  const first: number[] = []
  const figures = new Map<string, number[]>()
  const slowest: { chart: string; ms: number }[] = []
  for (const { path, metric, split } of await chartsOf(app)) {
    first.push((await app.get(path)).ms)
    const times: number[] = []
    for (let turn = 0; turn < sizes.chart_repeats; turn += 1) times.push((await app.get(path)).ms)
    slowest.push({ chart: `${metric} by ${split ?? 'no split'}`, ms: median(times) })
    const name = split ?? 'whole'
    figures.set(name, [...(figures.get(name) ?? []), ...times])
  }
  slowest.sort((a, b) => b.ms - a.ms)
  for (const { chart, ms } of slowest.slice(0, 5)) print(`metrics: ${chart}: ${ms.toFixed(1)} ms`)
  return [
    ...[...figures].flatMap(([name, times]) => [
      atMost(
        `a year by day, ${name === 'whole' ? name : `split by ${name}`}, median`,
        median(times),
        'ms',
        10,
      ),
      atMost(`a year by day, ${name === 'whole' ? name : `split by ${name}`}, p99`, p99(times), 'ms', 25),
    ]),
    atMost('first request of a chart after the start, median', median(first), 'ms', null),
    atMost('first request of a chart after the start, p99', p99(first), 'ms', null),
  ]
}

/** Measures a chart filtered by an attribute of users, and for how long it blocks other requests. */
async function measureAttribute({ sizes }: Bench, { get }: BusinessApp): Promise<Figure[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const times: number[] = []
  delay.enable()
  for (let turn = 0; turn < sizes.rounds; turn += 1)
    times.push((await get(`metrics/mrr?${YEAR}&attribute=plan=pro`)).ms)
  delay.disable()
  return [
    atMost('a year by day, users with an attribute', median(times), 'ms', 500),
    atMost('longest block of other requests meanwhile', delay.max / 1e6, 'ms', null),
  ]
}

async function medianTime({ sizes }: Bench, { get }: BusinessApp, path: string): Promise<number> {
  await get(path)
  const times: number[] = []
  for (let turn = 0; turn < sizes.chart_repeats; turn += 1) times.push((await get(path)).ms)
  return median(times)
}

async function measureCustomers(bench: Bench, app: BusinessApp): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const sort of ['ltv', 'last_seen', 'mrr', 'risk'])
    figures.push(
      atMost(`customers by ${sort}`, await medianTime(bench, app, `customers?sort=${sort}`), 'ms', 5),
    )
  const { answer } = await app.get<{ customers: { id: string }[] }>('customers?sort=ltv')
  const id = answer.customers[0]?.id ?? ''
  figures.push(atMost('a customer', await medianTime(bench, app, `customers/${id}`), 'ms', 5))
  for (const metric of ['retention', 'ltv', 'arppu', 'recovery']) {
    const ms = await medianTime(bench, app, `cohorts?metric=${metric}`)
    figures.push(atMost(`cohorts: ${metric}`, ms, 'ms', null))
  }
  return figures
}

/** Measures calls before and during a rebuild of all metrics. The rebuild need not finish. */
async function measureRebuild(bench: Bench, file: string): Promise<Figure[]> {
  const server = await bench.serve({ kind: 'windfall', file, at: BUSINESS_UNTIL })
  const load = identifyLoad(bench, server, bench.sizes.hot_users)
  const rounds = async (name: string) =>
    (await interleave(bench.sizes.tail_rounds, { [name]: () => bench.measure(load) }))[name] ?? []
  const alone = await rounds('alone')
  await server.request({ rebuild: true })
  const concurrent = await rounds('concurrent')
  await server.close()
  return compareWithAlone('identify during a rebuild of all metrics', alone, concurrent)
}

export async function measureMetrics(bench: Bench): Promise<Figure[]> {
  const business = await ensureBusinessFile(bench)
  const { file, transactions, seconds } = business
  const app = await openBusiness(file, bench.newFolder())
  const figures: Figure[] = []
  if (seconds !== null)
    figures.push(atLeast('first computation of all metrics', transactions / seconds, 'transactions/s', null))
  try {
    figures.push(...(await measureCharts(bench, app)))
    figures.push(...(await measureAttribute(bench, app)))
    figures.push(...(await measureCustomers(bench, app)))
    figures.push(...(await measureDuckdb(bench, app, file)))
  } finally {
    await app.close()
  }
  figures.push(...(await measureUpkeep(bench, business)))
  figures.push(...(await measureRebuild(bench, copyBusiness(bench, business))))
  bench.print(`metrics: measured with ${formatWhole(transactions)} transactions`)
  return figures
}
