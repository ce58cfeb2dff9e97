/** A bench server's work with Apple’s keys: reads the lists, imports reports, reads the history. */
import type { Windfall } from '../../../src/app.ts'
import type { AppleHosts } from '../../../src/apple/api/hosts.ts'
import type { ApiKey } from '../../../src/apple/api/keys.ts'

/** Where Apple is, and with what it is asked. */
export type AppleAccount = {
  hosts: AppleHosts
  connect_key: ApiKey
  purchase_key: ApiKey
  vendor_number: string
}

/**
 * `begin` answers at once. An import begins anew until the server is closed, a backfill has an end; `busy` tells
 * whether it is still under way, and how many rows or signed texts it has taken in.
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
  const forget = store.prepare('delete from import_days')
  let isBusy = false
  let imported = 0

  async function refresh(): Promise<Refreshed> {
    const { added } = await catalogue.refresh(organization_id)
    return { bundle_ids: added.map(({ bundle_id }) => bundle_id) }
  }

  /** As the job does it. @throws Error where a day failed or the import stopped. */
  async function importDays(days: number): Promise<Imported> {
    const began = performance.now()
    const run = await imports.run({ days })
    await reportedPeriods.learn(organization_id)
    const seconds = (performance.now() - began) / 1000
    if (run.failed > 0 || run.stopped.length > 0) throw new Error(`the import failed: ${JSON.stringify(run)}`)
    return { rows: run.rows, seconds }
  }

  /** @throws Error where it did not get to its end in both environments. */
  async function backfill(bundle_id: string): Promise<object> {
    const app = apps.list().find((one) => one.bundle_id === bundle_id)
    if (!app) throw new Error(`${bundle_id} is not connected`)
    const ended = await history.backfill(app)
    if (ended.length !== 2 || ended.some(({ state }) => state !== 'done'))
      throw new Error(`the backfill failed: ${JSON.stringify(ended)}`)
    return {}
  }

  async function importOverAndOver(): Promise<void> {
    for (;;) {
      const { stopped, rows } = await imports.run()
      if (stopped.length > 0) return
      imported += rows
      await store.commit(() => forget.run())
    }
  }

  function begin(work: 'import' | 'backfill'): void {
    const under_way = work === 'import' ? importOverAndOver() : history.backfill()
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

  return async (question: AppleRequest): Promise<object> => {
    if (question.apple === 'refresh') return refresh()
    if (question.apple === 'import') return importDays(question.days)
    if (question.apple === 'backfill') return backfill(question.bundle_id)
    if (question.apple === 'begin') begin(question.work)
    if (question.apple === 'counts') return counts()
    return busy()
  }
}
