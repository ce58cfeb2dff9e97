/**
 * The housekeeping job: resumes erasures, samples the disk, deletes expired rows, prunes users and updates SQLite's
 * statistics.
 */

import type { Audit } from '../access/audit.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Alerts } from '../alerts/alerts.ts'
import type { CallerMemory } from '../attribution/caller_memory.ts'
import type { Attest } from '../attribution/devices/attest.ts'
import type { Erasures } from '../attribution/erasure/erasure.ts'
import type { Pruning } from '../attribution/prune.ts'
import type { RefusedCalls } from '../attribution/refused_calls.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { ServedExports } from '../exports/served.ts'
import type { Forwarding } from '../forwarding/forwarding.ts'
import type { NotificationReceiver } from '../ledger/notification_receiver.ts'
import type { ClockCheck } from '../store/clock_check.ts'
import { takeDiskSample } from '../store/disk/samples.ts'
import { updateStatistics } from '../store/statistics.ts'
import type { Store } from '../store/store.ts'

export type HousekeepingDeps = {
  alerts: Pick<Alerts, 'expire'>
  arrivals: NotificationReceiver
  attest: Pick<Attest, 'expire'>
  audit: Audit
  callerMemory: Pick<CallerMemory, 'writeDaily'>
  clock: Clock
  clockCheck: ClockCheck
  erasures: Erasures
  exports: Pick<ServedExports, 'prune'>
  /** The current configuration; it changes on reload. */
  current: { readonly config: Pick<Config, 'forwarding' | 'users'> }
  forwarding: Pick<Forwarding, 'expire'>
  pruning: Pruning
  refusedCalls: RefusedCalls
  sessions: Pick<Sessions, 'expire'>
  store: Store
}

/** Runs the job once and returns its outcome as text. While the clock may be wrong, no rows are deleted by age. */
export async function runHousekeeping(deps: HousekeepingDeps): Promise<string> {
  const { arrivals, clockCheck, erasures, refusedCalls, sessions, store } = deps
  erasures.resume()
  await updateStatistics(store)
  await store.commit(store.log.trimLarge)
  if (!(await store.commit(clockCheck.isTrusted)))
    return 'nothing was deleted by age: the clock is more than a day ahead of the last run'
  const expired = await store.commit(() => {
    takeDiskSample(store, deps.clock)
    sessions.expire()
    refusedCalls.expire()
    deps.callerMemory.writeDaily()
    deps.attest.expire()
    return arrivals.pending.expire()
  })
  const pruned = await pruneUsers(deps)
  const users = pruned === null ? '' : `; pruned ${pruned} ${pruned === 1 ? 'user' : 'users'}`
  await deps.exports.prune()
  const count = await deps.forwarding.expire(deps.current.config.forwarding.keep_mb)
  await deps.alerts.expire()
  const deliveries =
    count === 0 ? '' : `; deleted ${count} ${count === 1 ? 'delivery' : 'deliveries'} of webhooks`
  return `deleted ${expired} expired pending ${expired === 1 ? 'notification' : 'notifications'}${users}${deliveries}`
}

function pruneUsers({ pruning, audit, current }: HousekeepingDeps): Promise<number | null> {
  const unseen_days = current.config.users.prune_after_days
  const actor = { actor: 'housekeeping', address: null }
  const onFirstPruned = () =>
    audit.note({ ...actor, action: 'users.pruned', detail: `unseen for ${unseen_days} days` })
  return pruning.daily({ unseen_days, onFirstPruned })
}
