/** Lists the scheduled jobs and connects each to the module that does its work. */
import type { AppleReading } from '../annotations/apple_reading.ts'
import type { Accounts } from '../apps/accounts.ts'
import type { Apps } from '../apps/apps.ts'
import type { Catalogue } from '../apps/catalogue.ts'
import type { Config } from '../config/settings.ts'
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
import { isMissed } from './due.ts'
import { type HousekeepingDeps, runHousekeeping } from './housekeeping.ts'
import type { Job } from './jobs.ts'

type JobDeps = HousekeepingDeps & {
  apps: Pick<Apps, 'list'>
  accounts: Accounts
  appleReading: AppleReading
  /** Creates a scheduled backup, or copies the last one if it `isCurrent`, and returns the outcome as text. */
  backup: (isCurrent: (made_at: number) => boolean) => Promise<string>
  catalogue: Catalogue
  current: { readonly config: Pick<Config, 'backup'> }
  /** Runs the checks and returns how many results there are of each status; when they are due again after errors. */
  doctor: { runScheduled: () => Promise<string>; againAt: () => number | null }
  history: History
  imports: Imports
  rates: Rates
  reportedPeriods: ReportedPeriods
}

/** All jobs. Their schedules are in [jobs] of the configuration. */
export function jobList(deps: JobDeps): Job[] {
  const { accounts, appleReading, apps, catalogue, doctor, history, imports } = deps
  const { rates, reportedPeriods, store } = deps

  async function importReports(signal: AbortSignal): Promise<string> {
    if (accounts.list().length === 0) return 'not asked: no App Store Connect key (windfall connect)'
    store.assertFreeSpace()
    await catalogue.refreshAll()
    const run = await imports.run({ signal })
    for (const { organization_id } of accounts.list()) await reportedPeriods.learn(organization_id)
    return describeImport(run)
  }

  /** Before an app is connected, no amount can need a rate. */
  const fetchRates = (signal: AbortSignal): Promise<string> | string =>
    apps.list().length === 0 ? 'no rates fetched: no app is connected' : rates.refresh(signal)

  async function readAppleNotes(signal: AbortSignal): Promise<string> {
    if (accounts.list().length === 0) return 'not asked: no App Store Connect key (windfall connect)'
    store.assertFreeSpace()
    return appleReading.read(signal)
  }

  /** Wraps a job that reads Apple's history: checks the free disk space first and adds apps without a key. */
  const describedRun = (work: () => Promise<string>) => () => {
    store.assertFreeSpace()
    return describeRun(history.keyCoverage(), work)
  }

  /** After a failure, the backup of the same night is copied. Its schedule or a person wants a new one. */
  const backUp = (_: AbortSignal, isAgain: boolean): Promise<string> => {
    const { schedule } = deps.current.config.backup
    return deps.backup((made_at) => isAgain && !isMissed(schedule, made_at, deps.clock()))
  }

  return [
    { name: 'import', run: importReports },
    { name: 'backfill', run: describedRun(async () => describeBackfill(await history.backfill())) },
    { name: 'reconcile', run: describedRun(async () => describeReconciliation(await history.reconcile())) },
    { name: 'lookups', run: describedRun(async () => describeLookups(await history.lookUp())) },
    { name: 'annotations', run: readAppleNotes },
    { name: 'rates', run: fetchRates },
    { name: 'housekeeping', run: () => runHousekeeping(deps) },
    { name: 'backup', run: backUp, followedBy: 'checks' },
    { name: 'checks', run: doctor.runScheduled, againAt: doctor.againAt },
  ]
}
