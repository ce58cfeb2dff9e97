/** The hourly job that finishes what is due, deletes what has waited too long, and keeps statistics up. */
import type { Audit } from '../access/audit.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Forgetting } from '../attribution/erasure/erasure.ts'
import type { Pruning } from '../attribution/prune.ts'
import type { RefusedCalls } from '../attribution/refused_calls.ts'
import type { Config } from '../config/settings.ts'
import type { Arrivals } from '../ledger/arrivals.ts'
import type { ClockCheck } from '../store/clock_check.ts'
import { updateStatistics } from '../store/statistics.ts'
import type { Store } from '../store/store.ts'

export type Housekeeping = {
  arrivals: Arrivals
  audit: Audit
  clockCheck: ClockCheck
  forgetting: Forgetting
  pruning: Pruning
  refusedCalls: RefusedCalls
  sessions: Pick<Sessions, 'expire'>
  store: Store
  /** Read each time, so that a reload reaches it. */
  users: Config['users']
}

/** Runs the job once, and says what it did. Deletes nothing by age while the clock may be wrong. */
export async function keepHouse(deps: Housekeeping): Promise<string> {
  const { arrivals, clockCheck, forgetting, refusedCalls, sessions, store } = deps
  forgetting.resume()
  await updateStatistics(store)
  if (!(await store.commit(clockCheck.isTrusted)))
    return 'nothing was deleted by age: the clock is more than a day ahead of the last run'
  const expired = await store.commit(() => {
    sessions.expire()
    refusedCalls.expire()
    return arrivals.pending.expire()
  })
  const pruned = await pruneUsers(deps)
  const users = pruned === null ? '' : `; ${pruned} ${pruned === 1 ? 'user was' : 'users were'} pruned`
  return `${expired} pending notifications were too old${users}`
}

function pruneUsers({ pruning, audit, users }: Housekeeping): Promise<number | null> {
  const unseen_days = users.prune_after_days
  const by = { actor: 'housekeeping', address: null }
  const note = () => audit.note({ ...by, action: 'users.pruned', detail: `unseen for ${unseen_days} days` })
  return pruning.daily({ unseen_days, note })
}
