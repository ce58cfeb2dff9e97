/** Compares the results and times of three charts with the same queries in DuckDB on the same data. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import type { Bench } from '../bench.ts'
import type { BusinessApp } from '../business/business_app.ts'
import { type Figure, formatShort, median } from '../figures.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('query_duckdb.py', import.meta.url))
const MIN_RATIO = 5

/** By query: DuckDB's time in milliseconds, and rows of a day, a product if the query is split, and a value. */
type Answers = Record<string, { ms: number; rows: (string | number)[][] }>
/**
 * `path`: the chart that is timed. `summed_paths`: the charts whose sum is DuckDB's result, because charges are two
 * parts of revenue.
 */
type Comparison = {
  name: string
  query: string
  path: string
  summed_paths: readonly string[]
  field: 'milli' | 'count'
}

const BY_PRODUCT = 'metrics/revenue?split=product&'
const COMPARISONS: readonly Comparison[] = [
  { name: 'MRR', query: 'mrr', path: 'metrics/mrr?', summed_paths: ['metrics/mrr?'], field: 'milli' },
  {
    name: 'active subscriptions',
    query: 'active',
    path: 'metrics/active_subscriptions?',
    summed_paths: ['metrics/active_subscriptions?'],
    field: 'count',
  },
  {
    name: 'revenue by product',
    query: 'revenue',
    path: BY_PRODUCT,
    summed_paths: [`${BY_PRODUCT}part=new&`, `${BY_PRODUCT}part=renewal&`],
    field: 'milli',
  },
]

/** Creates a Python environment with DuckDB. Returns null if it cannot be installed. */
async function pythonWithDuckdb(folder: string): Promise<string | null> {
  try {
    const python = join(folder, 'bin', 'python3')
    if (!existsSync(python)) await run('python3', ['-m', 'venv', folder])
    await run(python, ['-m', 'pip', 'install', '--quiet', 'duckdb'])
    return python
  } catch {
    return null
  }
}

const YEAR_MS = 364 * 86_400_000
const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Without Python or DuckDB, prints a note and returns no figures. */
export async function measureDuckdb(bench: Bench, app: BusinessApp, file: string): Promise<Figure[]> {
  const python = await pythonWithDuckdb(bench.newFolder())
  if (python === null) {
    bench.print('metrics: DuckDB cannot be installed here; the comparison is skipped')
    return []
  }
  const until = app.windfall.clock()
  const [from_on, to_on] = [isoDay(until - YEAR_MS), isoDay(until)]
  const numbers = [bench.sizes.chart_repeats, until].map(String)
  const { stdout } = await run(python, [SCRIPT, file, from_on, to_on, ...numbers], { maxBuffer: 1e9 })
  const answers: Answers = JSON.parse(stdout)
  const figures: Figure[] = []
  for (const comparison of COMPARISONS) {
    const { ms = Number.NaN, rows = [] } = answers[comparison.query] ?? {}
    const range = `from=${from_on}&to=${to_on}`
    const times: number[] = []
    for (let turn = 0; turn < bench.sizes.chart_repeats; turn += 1)
      times.push((await app.get(`${comparison.path}${range}`)).ms)
    const windfall_ms = median(times)
    figures.push({
      name: `${comparison.name}, a year by day`,
      value: `${formatShort(windfall_ms)} ms`,
      baseline: `DuckDB, 2 threads: ${formatShort(ms)} ms`,
      ratio: ms / windfall_ms,
      target: `≥ ${MIN_RATIO} ×`,
      isReached: ms / windfall_ms >= MIN_RATIO,
    })
    const answered: SeriesAnswer[] = []
    for (const path of comparison.summed_paths)
      answered.push((await app.get<SeriesAnswer>(`${path}${range}`)).answer)
    bench.print(
      `metrics: ${comparison.name}: ${describeDifference(windfallValues(comparison.field, answered), rows)}`,
    )
  }
  return figures
}

/** Sums the points by day, or by day and value of the split. */
function windfallValues(field: Comparison['field'], answers: readonly SeriesAnswer[]): Map<string, number> {
  const own = new Map<string, number>()
  for (const { split, series } of answers) {
    for (const { value, points } of series.filter(({ part }) => part === null || split !== null)) {
      for (const point of points) {
        const name = split === null ? point.on : `${point.on} ${value}`
        own.set(name, (own.get(name) ?? 0) + (point[field] ?? 0))
      }
    }
  }
  return own
}

/** Describes in how many values the results differ, and by how much. */
function describeDifference(own: ReadonlyMap<string, number>, rows: readonly (string | number)[][]): string {
  const differences = rows.map((row) =>
    Math.abs(Number(row.at(-1)) - (own.get(row.slice(0, -1).join(' ')) ?? 0)),
  )
  const apart = differences.filter((one) => one > 0)
  if (apart.length === 0) return `DuckDB returns the same ${rows.length} values`
  return `DuckDB returns ${apart.length} of ${rows.length} values that differ, by at most ${Math.max(...apart)}`
}
