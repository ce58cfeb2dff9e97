/** The effect of import and backfill on the response times of concurrent calls. */
import { preciseTime } from '../../../src/clock.ts'
import { type Bench, interleave, type Server } from '../bench.ts'
import { atLeast, type Figure, median } from '../figures.ts'
import { compareWithAlone, identifyLoad } from '../load/concurrent_work.ts'
import type { Measured } from '../load/load.ts'
import type { AppleAccount, AppleRequest, Busy } from '../servers/apple_work.ts'
import type { ServerSpec } from '../servers/serve.ts'
import type { AppStore, AppStoreRequest } from './app_store.ts'
import { openReportFile } from './report_file.ts'
import { lastDays, openReportsHost } from './reports_host.ts'

/** An hourly limit that the imports of all rounds together do not reach. */
const HIGH_LIMIT = 1_000_000

/** Opens a server on a new database without Apple's data, so that each round has the same amount of work. */
async function openServer(bench: Bench, spec: Omit<ServerSpec, 'kind' | 'file'>): Promise<Server> {
  const file = await bench.newDatabase(bench.sizes.hot_users)
  return bench.serve({ kind: 'windfall', file, ...spec })
}

/** `done`: the rows, notifications and transactions stored per second during the load. */
type Concurrent = Measured & { done: number }

async function measureAlone(bench: Bench, apple: AppleAccount): Promise<Concurrent> {
  const server = await openServer(bench, { apple })
  const measured = await bench.measure(identifyLoad(bench, server, bench.sizes.hot_users))
  await server.close()
  return { ...measured, done: 0 }
}

/** @throws Error if the work ended before the load. */
async function measureDuring(
  bench: Bench,
  work: 'import' | 'backfill',
  spec: Omit<ServerSpec, 'kind' | 'file'>,
): Promise<Concurrent> {
  const server = await openServer(bench, spec)
  const request = <Answer>(message: AppleRequest) => server.request<Answer>(message)
  await request({ apple: 'begin', work })
  const began = preciseTime()
  const measured = await bench.measure(identifyLoad(bench, server, bench.sizes.hot_users))
  const { busy, done } = await request<Busy>({ apple: 'busy' })
  const seconds = (preciseTime() - began) / 1000
  await server.close()
  if (busy) return { ...measured, done: done / seconds }
  throw new Error(`the ${work} ended before the load: make it larger in sizes.ts`)
}

function figuresOf(name: string, alone: Measured[], concurrent: Concurrent[], unit: string): Figure[] {
  const done = median(concurrent.map((one) => one.done))
  return [
    ...compareWithAlone(`identify during ${name}`, alone, concurrent),
    atLeast(`${name}, with the load`, done, `${unit}/s`, null),
  ]
}

export async function measureImportTail(bench: Bench): Promise<Figure[]> {
  const { tail_rounds, tail_subscribers, tail_reports, report_megabytes } = bench.sizes
  const [megabytes] = report_megabytes
  const host = await openReportsHost()
  const child = bench.start('import/app_store.ts')
  const { account, roots, apps } = await child.request<AppStore>({
    open: { subscribers: tail_subscribers, hourly_limit: HIGH_LIMIT, sign_ahead: true },
  } satisfies AppStoreRequest)
  // The oldest days are imported first.
  host.put(openReportFile(megabytes * 1e6), lastDays(365).slice(-tail_reports))
  try {
    const { alone, reports, large, history } = await interleave(tail_rounds, {
      alone: () => measureAlone(bench, account),
      reports: () => measureDuring(bench, 'import', { roots, apps, apple: account }),
      large: () => measureDuring(bench, 'import', { apple: host.account }),
      history: () => measureDuring(bench, 'backfill', { roots, apps, apple: account }),
    })
    return [
      ...figuresOf('an import', alone, reports, 'rows'),
      ...figuresOf(`an import of ${megabytes} MB a day`, alone, large, 'rows'),
      ...figuresOf('a backfill', alone, history, 'notifications and transactions'),
    ]
  } finally {
    await host.close()
    await child.close()
  }
}
