/**
 * The benchmark: measures each target of speed and size, and compares it with a baseline from the same run.
 *
 * `npm run bench -- --quick` makes a short run. `--only identify,bytes` (or `npm run bench -- identify bytes`) runs
 * some sections. `--transactions 1000000` uses a smaller business for the sections metrics and pages; generating the
 * full business takes an hour or two. `--against DIR` names another checkout of this project with its dependencies:
 * the section upkeep measures both in turns. `--subscriptions 20000` makes the section upkeep smaller.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { preciseTime } from '../../src/clock.ts'
import { type Bench, openBench, print } from './bench.ts'
import { describeDisk } from './disk.ts'
import { type Figure, tableOf } from './figures.ts'
import { measureForwarding } from './forwarding/forwarding.ts'
import { measureFirstConnect } from './import/first_connect.ts'
import { measureImportTail } from './import/import_tail.ts'
import { measureReports } from './import/reports.ts'
import { measureCall, measureSlowDisk } from './load/calls.ts'
import { measureBackup, measureViewers } from './load/concurrent_work.ts'
import { compareUpkeep } from './metrics/compare_trees.ts'
import { measureMetrics } from './metrics/metrics.ts'
import { measureBytes } from './notifications/bytes.ts'
import { measureNotifications } from './notifications/notifications.ts'
import { measurePages } from './pages/pages.ts'
import { FULL, QUICK, type Sizes } from './sizes.ts'
import { measureStart } from './start.ts'

const SECTIONS: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  identify: (bench) => measureCall(bench, 'identify'),
  attribute: (bench) => measureCall(bench, 'attribute'),
  'slow-disk': measureSlowDisk,
  notifications: measureNotifications,
  bytes: measureBytes,
  start: measureStart,
  backup: measureBackup,
  viewers: measureViewers,
  forwarding: measureForwarding,
  reports: measureReports,
  'first-connect': measureFirstConnect,
  'import-tail': measureImportTail,
  metrics: measureMetrics,
  upkeep: compareUpkeep,
  pages: measurePages,
}

function selectSections(requested: readonly string[]): readonly string[] {
  const names = requested.length > 0 ? requested : Object.keys(SECTIONS)
  const unknown = names.filter((name) => !Object.hasOwn(SECTIONS, name))
  if (unknown.length === 0) return names
  throw new Error(
    `unknown section ${unknown.join(', ')}; the sections are ${Object.keys(SECTIONS).join(', ')}`,
  )
}

/** Runs one section after another. If a section fails, prints the figures of the sections before it. */
async function measureAll(bench: Bench, names: readonly string[]): Promise<void> {
  const figures: Figure[] = []
  try {
    for (const name of names) {
      const began = preciseTime()
      figures.push(...((await SECTIONS[name]?.(bench)) ?? []))
      print(`${name}: measured in ${((preciseTime() - began) / 1000).toFixed(1)} s`)
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
    business_transactions: parseNumber('transactions', transactions) ?? business_transactions,
    upkeep: { ...upkeep, subscriptions: parseNumber('subscriptions', subscriptions) ?? upkeep.subscriptions },
  }
}

function parseNumber(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^[1-9]\d{2,7}$/.test(text)) return Number(text)
  throw new Error(`--${name} must be a number from 100 to 99999999`)
}

async function run(): Promise<void> {
  const text = { type: 'string' } as const
  const sizes = { quick: { type: 'boolean' }, transactions: text, subscriptions: text } as const
  const options = { only: text, against: text, ...sizes } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const names = selectSections([...(values.only?.split(',') ?? []), ...positionals])
  const bench = openBench(sizesOf(values), values.against)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void bench.close().then(() => process.exit(130)))
  }
  try {
    print(
      `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} processors.`,
    )
    print(`${describeDisk(bench.newFile())}.`)
    await measureAll(bench, names)
    const busyPercent = Math.round(bench.maxBusy() * 100)
    print(
      `Values are medians of ${bench.sizes.rounds} interleaved rounds; a ratio is the median of the rounds' ratios.`,
    )
    print(`The load process used at most ${busyPercent} % of a processor in a round.`)
  } finally {
    await bench.close()
  }
}

await run()
