/** What we compute: the list of everything that happens by the clock, each told in words. */
import type { Accounts } from '../apps/accounts.ts'
import type { Catalogue } from '../apps/catalogue.ts'
import type { Forgetting } from '../attribution/forget.ts'
import type { Sessions } from '../dashboard/owner/sessions.ts'
import type { Arrivals } from '../ledger/arrivals.ts'
import type { History } from '../ledger/history/history.ts'
import { toldOfBackfill, toldOfLookups, toldOfReconciliation, toldWithin } from '../ledger/history/telling.ts'
import type { Rates } from '../ledger/rates/rates.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { ReportedPeriods } from '../ledger/reports/reported_periods.ts'
import { toldOfImport } from '../ledger/reports/tally.ts'
import type { Cohorts } from '../metrics/cohorts/cohorts.ts'
import type { Customers } from '../metrics/customers/customers.ts'
import type { ClockCheck } from '../store/clock_check.ts'
import { updateStatistics } from '../store/statistics.ts'
import type { Store } from '../store/store.ts'
import type { Job } from './jobs.ts'

type Working = {
  accounts: Accounts
  arrivals: Arrivals
  catalogue: Catalogue
  clockCheck: ClockCheck
  cohorts: Cohorts
  customers: Customers
  forgetting: Forgetting
  history: History
  imports: Imports
  rates: Rates
  reportedPeriods: ReportedPeriods
  sessions: Pick<Sessions, 'expire'>
  store: Store
}

/** Every job there is. What a name here does, [jobs] of the configuration says when. */
export function jobList(working: Working): Job[] {
  const {
    accounts,
    arrivals,
    catalogue,
    clockCheck,
    cohorts,
    customers,
    forgetting,
    history,
    imports,
    rates,
    reportedPeriods,
    sessions,
    store,
  } = working

  async function importReports(signal: AbortSignal): Promise<string> {
    if (accounts.list().length === 0) return 'not asked: no App Store Connect key (windfall connect)'
    await catalogue.refreshAll()
    const run = await imports.run({ signal })
    for (const { organization_id } of accounts.list()) await reportedPeriods.learn(organization_id)
    return toldOfImport(run)
  }

  async function keepHouse(): Promise<string> {
    forgetting.resume()
    await customers.ripen()
    await cohorts.settle()
    await customers.settle()
    await updateStatistics(store)
    return store.commit(deleteByAge)
  }

  function deleteByAge(): string {
    if (!clockCheck.isTrusted())
      return 'nothing was deleted by age: the clock is more than a day ahead of the last run'
    sessions.expire()
    return `${arrivals.pending.expire()} pending notifications were too old`
  }

  const told = (ask: () => Promise<string>) => () => toldWithin(history.reach(), ask)

  return [
    { name: 'import', run: importReports },
    { name: 'backfill', run: told(async () => toldOfBackfill(await history.backfill())) },
    { name: 'reconcile', run: told(async () => toldOfReconciliation(await history.reconcile())) },
    { name: 'lookups', run: told(async () => toldOfLookups(await history.lookUp())) },
    { name: 'rates', run: rates.refresh },
    { name: 'housekeeping', run: keepHouse },
  ]
}
