/** The list of scheduled jobs. */
import type { Accounts } from '../apps/accounts.ts'
import type { Catalogue } from '../apps/catalogue.ts'
import type { History } from '../ledger/history/history.ts'
import {
  describeBackfill,
  describeLookups,
  describeReconciliation,
  describeRun,
} from '../ledger/history/job_outcomes.ts'
import { describeImport } from '../ledger/reports/import_stats.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { ReportedPeriods } from '../ledger/reports/reported_periods.ts'
import type { Rates } from '../rates/rates.ts'
import { type HousekeepingDeps, runHousekeeping } from './housekeeping.ts'
import type { Job } from './jobs.ts'

type JobDeps = HousekeepingDeps & {
  accounts: Accounts
  /** Makes a scheduled backup and returns its outcome. */
  backup: () => Promise<string>
  catalogue: Catalogue
  history: History
  imports: Imports
  rates: Rates
  reportedPeriods: ReportedPeriods
}

/** All jobs. Their schedules are in [jobs] of the configuration. */
export function jobList(working: JobDeps): Job[] {
  const { accounts, backup, catalogue, history, imports, rates, reportedPeriods, store } = working

  async function importReports(signal: AbortSignal): Promise<string> {
    if (accounts.list().length === 0) return 'not asked: no App Store Connect key (windfall connect)'
    store.assertFreeSpace()
    await catalogue.refreshAll()
    const run = await imports.run({ signal })
    for (const { organization_id } of accounts.list()) await reportedPeriods.learn(organization_id)
    return describeImport(run)
  }

  /** Checks the free disk space first: these jobs store what they fetch. */
  const withOutcomes = (work: () => Promise<string>) => () => {
    store.assertFreeSpace()
    return describeRun(history.keyCoverage(), work)
  }

  return [
    { name: 'import', run: importReports },
    { name: 'backfill', run: withOutcomes(async () => describeBackfill(await history.backfill())) },
    { name: 'reconcile', run: withOutcomes(async () => describeReconciliation(await history.reconcile())) },
    { name: 'lookups', run: withOutcomes(async () => describeLookups(await history.lookUp())) },
    { name: 'rates', run: rates.refresh },
    { name: 'housekeeping', run: () => runHousekeeping(working) },
    { name: 'backup', run: backup },
  ]
}
