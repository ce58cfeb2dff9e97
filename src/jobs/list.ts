/** What we compute: the list of everything that happens by the clock, each told in words. */
import type { Accounts } from '../apps/accounts.ts'
import type { Catalogue } from '../apps/catalogue.ts'
import type { History } from '../ledger/history/history.ts'
import {
  toldOfBackfill,
  toldOfLookups,
  toldOfReconciliation,
  toldWithin,
} from '../ledger/history/job_outcomes.ts'
import { toldOfImport } from '../ledger/reports/import_stats.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { ReportedPeriods } from '../ledger/reports/reported_periods.ts'
import type { Rates } from '../rates/rates.ts'
import { type Housekeeping, keepHouse } from './housekeeping.ts'
import type { Job } from './jobs.ts'

type Working = Housekeeping & {
  accounts: Accounts
  /** Makes a scheduled backup, and says what it did. */
  backup: () => Promise<string>
  catalogue: Catalogue
  history: History
  imports: Imports
  rates: Rates
  reportedPeriods: ReportedPeriods
}

/** Every job there is. What a name here does, [jobs] of the configuration says when. */
export function jobList(working: Working): Job[] {
  const { accounts, backup, catalogue, history, imports, rates, reportedPeriods, store } = working

  async function importReports(signal: AbortSignal): Promise<string> {
    if (accounts.list().length === 0) return 'not asked: no App Store Connect key (windfall connect)'
    store.assertRoom()
    await catalogue.refreshAll()
    const run = await imports.run({ signal })
    for (const { organization_id } of accounts.list()) await reportedPeriods.learn(organization_id)
    return toldOfImport(run)
  }

  /** What fetches more waits until there is room for it. */
  const told = (ask: () => Promise<string>) => () => {
    store.assertRoom()
    return toldWithin(history.reach(), ask)
  }

  return [
    { name: 'import', run: importReports },
    { name: 'backfill', run: told(async () => toldOfBackfill(await history.backfill())) },
    { name: 'reconcile', run: told(async () => toldOfReconciliation(await history.reconcile())) },
    { name: 'lookups', run: told(async () => toldOfLookups(await history.lookUp())) },
    { name: 'rates', run: rates.refresh },
    { name: 'housekeeping', run: () => keepHouse(working) },
    { name: 'backup', run: backup },
  ]
}
