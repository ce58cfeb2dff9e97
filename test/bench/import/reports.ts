/** Apple's sales reports: unpacked, parsed, and imported to disk; and the memory that takes. */
import { writeFileSync } from 'node:fs'
import { setTimeout as pass } from 'node:timers/promises'
import { type Bench, inTurn, NODE_OPTIONS_OF_START, type Server } from '../bench.ts'
import { above, below, type Figure, faster, median } from '../figures.ts'
import { memoryOf } from '../memory.ts'
import type { AppleRequest, Imported } from '../servers/apple_work.ts'
import type { Parsed, ParsingRequest } from './parsing.ts'
import { openReportFile, type ReportFile } from './report_file.ts'
import { lastDays, openReportsHost } from './reports_host.ts'

const MOST_MEMORY_MIB = 150
const LEAST_ROWS_PER_SECOND = 150_000

type Host = Awaited<ReturnType<typeof openReportsHost>>

const importOf = (server: Server, days: number) =>
  server.request<Imported>({ apple: 'import', days } satisfies AppleRequest)

async function openServer(workshop: Bench, { account }: Host): Promise<Server> {
  return workshop.serve({ kind: 'windfall', file: await workshop.databaseOf(0), apple: account })
}

/** One report of its own in each round; the others of its day are empty. */
async function measureRounds(workshop: Bench, host: Host, report: ReportFile) {
  const { rounds } = workshop.sizes
  const days = lastDays(rounds + 1)
  host.put(report, days)
  const [day = ''] = days
  const file = workshop.newFile()
  writeFileSync(file, report.bodyOf(day))
  const reader = workshop.start('import/parsing.ts', NODE_OPTIONS_OF_START)
  const read = (question: ParsingRequest['do']) =>
    reader.request<Parsed>({ do: question, file, day } satisfies ParsingRequest)
  const server = await openServer(workshop, host)
  let imported = 0
  const importNext = async (): Promise<number> => {
    imported += 1
    const { rows, seconds } = await importOf(server, imported)
    if (rows !== report.rows) throw new Error(`${rows} rows were imported of ${report.rows}`)
    return seconds
  }

  await read('unpack')
  await read('parse')
  await importNext()
  const seconds = await inTurn(rounds, {
    unpack: async () => (await read('unpack')).seconds,
    parse: async () => (await read('parse')).seconds,
    load: importNext,
  })
  await server.close()
  return seconds
}

async function measureSpeed(workshop: Bench, host: Host, report: ReportFile, megabytes: number) {
  const seconds = await measureRounds(workshop, host, report)
  const speeds = (amount: number, times: readonly number[]) => times.map((time) => amount / time)
  const bytes = report.bytes / 1e6
  const floor = { name: 'gunzip alone', values: speeds(bytes, seconds.unpack) }
  const rows = (times: readonly number[]) => median(speeds(report.rows, times))
  const name = `report of ${megabytes} MB`
  return [
    faster(`${name}, parsed`, speeds(bytes, seconds.parse), floor, null, ' MB'),
    above(`${name}, parsed`, rows(seconds.parse), 'rows/s', null),
    faster(`${name}, fetched, kept, parsed, loaded`, speeds(bytes, seconds.load), floor, null, ' MB'),
    above(`${name}, fetched, kept, parsed, loaded`, rows(seconds.load), 'rows/s', LEAST_ROWS_PER_SECOND),
  ]
}

async function measureMemory(workshop: Bench, host: Host, report: ReportFile, megabytes: number) {
  host.put(report, lastDays(1))
  const server = await openServer(workshop, host)
  await pass(workshop.sizes.idle_seconds * 1000)
  const idle = memoryOf(server.pid, 'resident')
  await importOf(server, 1)
  const peak = memoryOf(server.pid, 'peak')
  await server.close()
  if (idle === null || peak === null) return []
  const name = `most memory while a report of ${megabytes} MB is imported, above ${Math.round(idle)} MiB idle`
  return [below(name, peak - idle, 'MiB', MOST_MEMORY_MIB)]
}

export async function measureReports(workshop: Bench): Promise<Figure[]> {
  const host = await openReportsHost()
  const figures: Figure[] = []
  try {
    for (const [index, megabytes] of workshop.sizes.report_megabytes.entries()) {
      const report = openReportFile(megabytes * 1e6)
      figures.push(...(await measureSpeed(workshop, host, report, megabytes)))
      if (index > 0) figures.push(...(await measureMemory(workshop, host, report, megabytes)))
    }
    return figures
  } finally {
    await host.close()
  }
}
