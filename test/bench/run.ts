/**
 * The bench: every promise of speed and size, measured against a floor in the same run. `npm run bench -- --quick` is
 * a short one, `--only identify,bytes` (or `npm run bench -- identify bytes`) takes some of its chapters, and
 * `--transactions 1000000` a smaller business for metrics and pages, of which making the whole takes an hour or two.
 * `--against DIR` names another checkout of this project, with its dependencies: the chapter upkeep measures both in
 * turns; `--subscriptions 20000` makes it smaller.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Bench, openBench, print } from './bench.ts'
import { diskInWords } from './disk.ts'
import { type Figure, tableOf } from './figures.ts'
import { measureFirstConnect } from './import/first_connect.ts'
import { measureImportTail } from './import/import_tail.ts'
import { measureReports } from './import/reports.ts'
import { measureCall, measureSlowDisk } from './load/calls.ts'
import { measureBackup, measureViewers } from './load/concurrent_work.ts'
import { measureAgainst } from './metrics/compare_trees.ts'
import { measureMetrics } from './metrics/metrics.ts'
import { measureBytes } from './notifications/bytes.ts'
import { measureNotifications } from './notifications/notifications.ts'
import { measurePages } from './pages/pages.ts'
import { FULL, QUICK, type Sizes } from './sizes.ts'
import { measureStart } from './start.ts'

const SECTIONS: Record<string, (workshop: Bench) => Promise<Figure[]>> = {
  identify: (workshop) => measureCall(workshop, 'identify'),
  attribute: (workshop) => measureCall(workshop, 'attribute'),
  'slow-disk': measureSlowDisk,
  notifications: measureNotifications,
  bytes: measureBytes,
  start: measureStart,
  backup: measureBackup,
  viewers: measureViewers,
  reports: measureReports,
  'first-connect': measureFirstConnect,
  'import-tail': measureImportTail,
  metrics: measureMetrics,
  upkeep: measureAgainst,
  pages: measurePages,
}

function chosen(some: readonly string[]): readonly string[] {
  const names = some.length > 0 ? some : Object.keys(SECTIONS)
  const unknown = names.filter((name) => !Object.hasOwn(SECTIONS, name))
  if (unknown.length === 0) return names
  throw new Error(`there is no chapter ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}`)
}

/** Measures one chapter after another; what was measured before one broke is told all the same. */
async function measureAll(workshop: Bench, names: readonly string[]): Promise<void> {
  const figures: Figure[] = []
  try {
    for (const name of names) {
      const began = performance.now()
      figures.push(...((await SECTIONS[name]?.(workshop)) ?? []))
      print(`${name}: measured in ${((performance.now() - began) / 1000).toFixed(1)} s`)
    }
  } finally {
    print(`\n${tableOf(figures)}\n`)
  }
}

type RunOptions = { quick?: boolean; transactions?: string; subscriptions?: string }

function sizesOf({ quick, transactions, subscriptions }: RunOptions): Sizes {
  const sizes = quick ? QUICK : FULL
  const { business_transactions, upkeep } = sizes
  return {
    ...sizes,
    business_transactions: numberOf('transactions', transactions) ?? business_transactions,
    upkeep: { ...upkeep, subscriptions: numberOf('subscriptions', subscriptions) ?? upkeep.subscriptions },
  }
}

function numberOf(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^[1-9]\d{2,7}$/.test(text)) return Number(text)
  throw new Error(`--${name} is a number from 100 to 99999999`)
}

async function run(): Promise<void> {
  const text = { type: 'string' } as const
  const sizes = { quick: { type: 'boolean' }, transactions: text, subscriptions: text } as const
  const options = { only: text, against: text, ...sizes } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const names = chosen([...(values.only?.split(',') ?? []), ...positionals])
  const workshop = openBench(sizesOf(values), values.against)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void workshop.close().then(() => process.exit(130)))
  }
  try {
    print(
      `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} processors.`,
    )
    print(`${diskInWords(workshop.newFile())}.`)
    await measureAll(workshop, names)
    const part = Math.round(workshop.busiest() * 100)
    print(
      `Medians of ${workshop.sizes.rounds} interleaved rounds; a ratio is the median of the rounds' ratios.`,
    )
    print(`The process that made the load was at work for ${part} % of a round at most.`)
  } finally {
    await workshop.close()
  }
}

await run()
