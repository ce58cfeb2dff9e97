/** The Apple work of a benchmark server: reads the app list, imports reports, and backfills the history. */
import type { Windfall } from '../../../src/app.ts'
import type { AppleHosts } from '../../../src/apple/api/hosts.ts'
import type { ApiKey } from '../../../src/apple/api/keys.ts'
import { preciseTime } from '../../../src/clock.ts'

/** The addresses and credentials of Apple's APIs. */
export type AppleAccount = {
  hosts: AppleHosts
  connect_key: ApiKey
  purchase_key: ApiKey
  vendor_number: string
}

/**
 * `begin` starts work in the background: an import repeats until the server is closed, a backfill runs once. `busy`
 * returns whether the work still runs, and how many rows, notifications and transactions it has stored.
 */
export type AppleRequest =
  | { apple: 'refresh' }
  | { apple: 'import'; days: number }
  | { apple: 'backfill'; bundle_id: string }
  | { apple: 'begin'; work: 'import' | 'backfill' }
  | { apple: 'busy' }
  | { apple: 'counts' }

export type Refreshed = { bundle_ids: string[] }
export type Imported = { rows: number; seconds: number }
export type Busy = { busy: boolean; done: number }
export type Counts = { report_rows: number; notifications: number; transactions: number; statuses: number }

export function openAppleWork(windfall: Windfall, account: AppleAccount) {
  const { accounts, apps, catalogue, history, imports, organizations, reportedPeriods, store } = windfall
  const { id: organization_id } = organizations.resolve(null)
  const { connect_key: connect, purchase_key: purchases, vendor_number } = account
  accounts.declare([{ organization_id, connect, purchases, vendor_numbers: [vendor_number] }])
  const forgetDays = store.prepare('delete from import_days')
  let isBusy = false
  let imported = 0

  async function refresh(): Promise<Refreshed> {
    const { added } = await catalogue.refresh(organization_id)
    return { bundle_ids: added.map(({ bundle_id }) => bundle_id) }
  }

  /** Imports reports as the job does. @throws Error if a day failed or the import stopped. */
  async function importDays(days: number): Promise<Imported> {
    const began = preciseTime()
    const run = await imports.run({ days })
    await reportedPeriods.learn(organization_id)
    const seconds = (preciseTime() - began) / 1000
    if (run.failed > 0 || run.stopped.length > 0) throw new Error(`the import failed: ${JSON.stringify(run)}`)
    return { rows: run.rows, seconds }
  }

  /** @throws Error unless the backfills of both environments complete. */
  async function backfill(bundle_id: string): Promise<object> {
    const app = apps.list().find((one) => one.bundle_id === bundle_id)
    if (!app) throw new Error(`${bundle_id} is not connected`)
    const ended = await history.backfill(app)
    if (ended.length !== 2 || ended.some(({ state }) => state !== 'done'))
      throw new Error(`the backfill failed: ${JSON.stringify(ended)}`)
    return {}
  }

  async function importRepeatedly(): Promise<void> {
    for (;;) {
      const { stopped, rows } = await imports.run()
      if (stopped.length > 0) return
      imported += rows
      await store.commit(() => forgetDays.run())
    }
  }

  function begin(work: 'import' | 'backfill'): void {
    const under_way = work === 'import' ? importRepeatedly() : history.backfill()
    isBusy = true
    void under_way.finally(() => {
      isBusy = false
    })
  }

  function busy(): Busy {
    const { notifications, transactions } = counts()
    const rows = imported + (imports.progress()?.tally.rows ?? 0)
    return { busy: isBusy, done: rows + notifications + transactions }
  }

  const count = (sql: string): number => Number(store.prepare<[], number>(sql).pluck().get())

  const counts = (): Counts => ({
    report_rows: count('select total(row_count) from import_days join reports on reports.id = report_id'),
    notifications: count('select count(*) from notifications'),
    transactions: count('select count(*) from transactions'),
    statuses: count('select total(statuses) from backfills'),
  })

  return async (message: AppleRequest): Promise<object> => {
    if (message.apple === 'refresh') return refresh()
    if (message.apple === 'import') return importDays(message.days)
    if (message.apple === 'backfill') return backfill(message.bundle_id)
    if (message.apple === 'begin') begin(message.work)
    if (message.apple === 'counts') return counts()
    return busy()
  }
}
