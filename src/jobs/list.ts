/** What we compute: the list of everything that happens by the clock, each told in words. */
import type { Accounts } from '../apps/accounts.ts'
import type { Catalogue } from '../apps/catalogue.ts'
import type { Forgetting } from '../attribution/forget.ts'
import type { Pruning } from '../attribution/prune.ts'
import type { RefusedCalls } from '../attribution/refused_calls.ts'
import type { Config } from '../config/settings.ts'
import type { Audit } from '../dashboard/owner/audit.ts'
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
  audit: Audit
  /** Makes a scheduled backup, and says what it did. */
  backup: () => Promise<string>
  catalogue: Catalogue
  clockCheck: ClockCheck
  cohorts: Cohorts
  customers: Customers
  forgetting: Forgetting
  history: History
  imports: Imports
  pruning: Pruning
  rates: Rates
  refusedCalls: RefusedCalls
  reportedPeriods: ReportedPeriods
  sessions: Pick<Sessions, 'expire'>
  store: Store
  /** Read anew each time, so that a reload reaches it. */
  users: Config['users']
}

/** Every job there is. What a name here does, [jobs] of the configuration says when. */
export function jobList(working: Working): Job[] {
  const {
    accounts,
    arrivals,
    backup,
    catalogue,
    clockCheck,
    cohorts,
    customers,
    forgetting,
    history,
    imports,
    rates,
    refusedCalls,
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
    if (!(await store.commit(clockCheck.isTrusted)))
      return 'nothing was deleted by age: the clock is more than a day ahead of the last run'
    const expired = await store.commit(() => {
      sessions.expire()
      refusedCalls.expire()
      return arrivals.pending.expire()
    })
    const pruned = await pruneUsers(working)
    const users = pruned === null ? '' : `; ${pruned} ${pruned === 1 ? 'user was' : 'users were'} pruned`
    return `${expired} pending notifications were too old${users}`
  }

  const told = (ask: () => Promise<string>) => () => toldWithin(history.reach(), ask)

  return [
    { name: 'import', run: importReports },
    { name: 'backfill', run: told(async () => toldOfBackfill(await history.backfill())) },
    { name: 'reconcile', run: told(async () => toldOfReconciliation(await history.reconcile())) },
    { name: 'lookups', run: told(async () => toldOfLookups(await history.lookUp())) },
    { name: 'rates', run: rates.refresh },
    { name: 'housekeeping', run: keepHouse },
    { name: 'backup', run: backup },
  ]
}

function pruneUsers({ pruning, audit, users }: Working): Promise<number | null> {
  const unseen_days = users.prune_after_days
  const by = { actor: 'housekeeping', address: null }
  const note = () => audit.note({ ...by, action: 'users.pruned', detail: `unseen for ${unseen_days} days` })
  return pruning.daily({ unseen_days, note })
}
