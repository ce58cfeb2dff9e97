/** Stores original transaction ids that client apps sent before Apple reported them, and when to look them up. */
import type { App } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { openCustomers } from '../customers.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/**
 * The delays before each attempt. The notification of a new purchase usually arrives within the first delay. After the
 * last attempt, the id is not looked up again.
 */
const DELAYS_MS = [2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 3 * DAY_MS]
const LONGEST_DELAY_MS = Math.max(...DELAYS_MS)
/** Apple's ids are long numbers, while Xcode's local store counts from 0. Other ids are not requested from Apple. */
const APPLE_ID = /^\d{3,24}$/

/**
 * `found`: the history of the id was read. `known`: a notification of the id arrived in the meantime. `refused`: Apple
 * rejects the id as invalid. `given_up`: Apple did not know the id in any attempt.
 */
export type LookupOutcome = 'found' | 'known' | 'refused' | 'given_up'
export type Lookup = { app_id: string; original_transaction_id: string; attempts: number }

export type Lookups = ReturnType<typeof openLookups>

export function openLookups(store: Store, clock: Clock, customers: ReturnType<typeof openCustomers>) {
  const insert = store.prepare<[string, string, number, number]>(`
    insert or ignore into lookups (app_id, original_transaction_id, asked_at, attempts, next_at) values (?, ?, ?, 0, ?)`)
  // A `next_at` further away than the longest delay was set while the clock was ahead, so the id is due.
  const selectDue = store.prepare<[string, number, number, number], Lookup>(`
    select app_id, original_transaction_id, attempts from lookups
    where app_id = ? and next_at is not null and (next_at <= ? or next_at > ?) order by next_at limit ?`)
  const reschedule = store.prepare<[number | null, string | null, string, string]>(`
    update lookups set attempts = attempts + 1, next_at = ?, outcome = ?
    where app_id = ? and original_transaction_id = ?`)
  const setOutcome = store.prepare<[LookupOutcome, string, string]>(
    'update lookups set next_at = null, outcome = ? where app_id = ? and original_transaction_id = ?',
  )
  const countWaiting = store.prepare<[string], { n: number }>(
    'select count(*) as n from lookups where app_id = ? and next_at is not null',
  )

  /** Adds an id that a client app sent, if the ledger does not know it. Call it inside a unit of work. */
  function add(app: App, original_transaction_id: string): void {
    if (!APPLE_ID.test(original_transaction_id)) return
    if (customers.findByLineage(app.id, original_transaction_id) !== null) return
    const now = clock()
    insert.run(app.id, original_transaction_id, now, now + (DELAYS_MS[0] ?? 0))
  }

  /** The ids of an app that are due now, ordered by due time. */
  const due = (app_id: string, limit: number): Lookup[] =>
    selectDue.all(app_id, clock(), clock() + LONGEST_DELAY_MS, limit)

  /** Schedules the next attempt for an id that Apple does not know. After six attempts, its outcome is `given_up`. */
  function postpone({ app_id, original_transaction_id, attempts }: Lookup): void {
    const delay = DELAYS_MS[attempts + 1]
    const next_at = delay === undefined ? null : clock() + delay
    reschedule.run(next_at, next_at === null ? 'given_up' : null, app_id, original_transaction_id)
  }

  const settle = ({ app_id, original_transaction_id }: Lookup, outcome: LookupOutcome): void =>
    void setOutcome.run(outcome, app_id, original_transaction_id)

  /** The number of ids of an app that are still to be looked up. */
  const count = (app_id: string): number => countWaiting.get(app_id)?.n ?? 0

  return { add, due, postpone, settle, count }
}
