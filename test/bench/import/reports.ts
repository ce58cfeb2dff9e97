/** Apple's sales reports: the speed of parsing and importing them, and the memory of an import. */
import { writeFileSync } from 'node:fs'
import { setTimeout as pass } from 'node:timers/promises'
import { type Bench, interleave, NODE_OPTIONS_OF_START, type Server } from '../bench.ts'
import { atLeast, atMost, type Figure, median, speedAgainst } from '../figures.ts'
import { readMemory } from '../memory.ts'
import type { AppleRequest, Imported } from '../servers/apple_work.ts'
import type { Parsed, ParsingRequest } from './parsing.ts'
import { openReportFile, type ReportFile } from './report_file.ts'
import { lastDays, openReportsHost } from './reports_host.ts'

const MAX_MEMORY_MIB = 150
const MIN_ROWS_PER_SECOND = 150_000

type ReportsHost = Awaited<ReturnType<typeof openReportsHost>>

const runImport = (server: Server, days: number) =>
  server.request<Imported>({ apple: 'import', days } satisfies AppleRequest)

async function openServer(bench: Bench, { account }: ReportsHost): Promise<Server> {
  return bench.serve({ kind: 'windfall', file: await bench.newDatabase(0), apple: account })
}

/** Imports one large report per round. All other reports of its day are empty. */
async function measureRounds(bench: Bench, host: ReportsHost, report: ReportFile) {
  const { rounds } = bench.sizes
  const days = lastDays(rounds + 1)
  host.put(report, days)
  const [day = ''] = days
  const file = bench.newFile()
  writeFileSync(file, report.bodyOf(day))
  const parser = bench.start('import/parsing.ts', NODE_OPTIONS_OF_START)
  const runStep = (message: ParsingRequest['step']) =>
    parser.request<Parsed>({ step: message, file, day } satisfies ParsingRequest)
  const server = await openServer(bench, host)
  let imported = 0
  const importNext = async (): Promise<number> => {
    imported += 1
    const { rows, seconds } = await runImport(server, imported)
    if (rows !== report.rows) throw new Error(`imported ${rows} of ${report.rows} rows`)
    return seconds
  }

  await runStep('unpack')
  await runStep('parse')
  await importNext()
  const seconds = await interleave(rounds, {
    unpack: async () => (await runStep('unpack')).seconds,
    parse: async () => (await runStep('parse')).seconds,
    importing: importNext,
  })
  await server.close()
  return seconds
}

async function measureSpeed(bench: Bench, host: ReportsHost, report: ReportFile, megabytes: number) {
  const seconds = await measureRounds(bench, host, report)
  const speeds = (amount: number, times: readonly number[]) => times.map((time) => amount / time)
  const bytes = report.bytes / 1e6
  const baseline = { name: 'gunzip alone', values: speeds(bytes, seconds.unpack) }
  const rows = (times: readonly number[]) => median(speeds(report.rows, times))
  const name = `report of ${megabytes} MB`
  return [
    speedAgainst(`${name}, parsed`, speeds(bytes, seconds.parse), baseline, null, ' MB'),
    atLeast(`${name}, parsed`, rows(seconds.parse), 'rows/s', null),
    speedAgainst(`${name}, imported`, speeds(bytes, seconds.importing), baseline, null, ' MB'),
    atLeast(`${name}, imported`, rows(seconds.importing), 'rows/s', MIN_ROWS_PER_SECOND),
  ]
}

async function measureMemory(bench: Bench, host: ReportsHost, report: ReportFile, megabytes: number) {
  host.put(report, lastDays(1))
  const server = await openServer(bench, host)
  await pass(bench.sizes.idle_seconds * 1000)
  const idle = readMemory(server.pid, 'resident')
  await runImport(server, 1)
  const peak = readMemory(server.pid, 'peak')
  await server.close()
  if (idle === null || peak === null) return []
  const name = `peak memory of importing a report of ${megabytes} MB, above ${Math.round(idle)} MiB idle`
  return [atMost(name, peak - idle, 'MiB', MAX_MEMORY_MIB)]
}

export async function measureReports(bench: Bench): Promise<Figure[]> {
  const host = await openReportsHost()
  const figures: Figure[] = []
  try {
    for (const [index, megabytes] of bench.sizes.report_megabytes.entries()) {
      const report = openReportFile(megabytes * 1e6)
      figures.push(...(await measureSpeed(bench, host, report, megabytes)))
      if (index > 0) figures.push(...(await measureMemory(bench, host, report, megabytes)))
    }
    return figures
  } finally {
    await host.close()
  }
}
