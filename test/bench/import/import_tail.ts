/** The effect of import and backfill on the slowest concurrent calls. */

import { type Bench, inTurn, type Server } from '../bench.ts'
import { above, type Figure, median } from '../figures.ts'
import { comparedWithAlone, loadOn } from '../load/concurrent_work.ts'
import type { Measured } from '../load/load.ts'
import type { AppleAccount, AppleRequest, Busy } from '../servers/apple_work.ts'
import type { ServerSpec } from '../servers/serve.ts'
import type { AppStore, AppStoreRequest } from './app_store.ts'
import { openReportFile } from './report_file.ts'
import { lastDays, openReportsHost } from './reports_host.ts'

/** A year is imported in each round, and all of them within one of Apple's hours. */
const ANY_NUMBER = 1_000_000

/** On a database of its own, which knows nothing of Apple's yet, so that there is as much to do in each round. */
async function openServer(workshop: Bench, spec: Omit<ServerSpec, 'kind' | 'file'>): Promise<Server> {
  const file = await workshop.databaseOf(workshop.sizes.hot_users)
  return workshop.serve({ kind: 'windfall', file, ...spec })
}

/** `done`: rows or signed texts that were taken in meanwhile, in a second. */
type Beside = Measured & { done: number }

async function measureAlone(workshop: Bench, apple: AppleAccount): Promise<Beside> {
  const server = await openServer(workshop, { apple })
  const measured = await workshop.measure(loadOn(workshop, server, workshop.sizes.hot_users))
  await server.close()
  return { ...measured, done: 0 }
}

/** @throws Error where the work was over before the load was. */
async function measureBeside(
  workshop: Bench,
  work: 'import' | 'backfill',
  spec: Omit<ServerSpec, 'kind' | 'file'>,
): Promise<Beside> {
  const server = await openServer(workshop, spec)
  const request = <Answer>(question: AppleRequest) => server.request<Answer>(question)
  await request({ apple: 'begin', work })
  const began = performance.now()
  const measured = await workshop.measure(loadOn(workshop, server, workshop.sizes.hot_users))
  const { busy, done } = await request<Busy>({ apple: 'busy' })
  const seconds = (performance.now() - began) / 1000
  await server.close()
  if (busy) return { ...measured, done: done / seconds }
  throw new Error(`the ${work} ended before the load did: there has to be more of it in sizes.ts`)
}

function figuresOf(name: string, alone: Measured[], beside: Beside[], what: string): Figure[] {
  const done = median(beside.map((one) => one.done))
  return [
    ...comparedWithAlone(`identify during ${name}`, alone, beside),
    above(`${name} meanwhile`, done, `${what}/s`, null),
  ]
}

export async function measureImportTail(workshop: Bench): Promise<Figure[]> {
  const { tail_rounds, tail_subscribers, tail_reports, report_megabytes } = workshop.sizes
  const [megabytes] = report_megabytes
  const host = await openReportsHost()
  const child = workshop.start('import/app_store.ts')
  const { account, roots, apps } = await child.request<AppStore>({
    open: { subscribers: tail_subscribers, hourly: ANY_NUMBER, signed: true },
  } satisfies AppStoreRequest)
  // The oldest days are imported first.
  host.put(openReportFile(megabytes * 1e6), lastDays(365).slice(-tail_reports))
  try {
    const { alone, reports, large, history } = await inTurn(tail_rounds, {
      alone: () => measureAlone(workshop, account),
      reports: () => measureBeside(workshop, 'import', { roots, apps, apple: account }),
      large: () => measureBeside(workshop, 'import', { apple: host.account }),
      history: () => measureBeside(workshop, 'backfill', { roots, apps, apple: account }),
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
