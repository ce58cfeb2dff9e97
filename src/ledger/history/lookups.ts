/** What we remember: original transaction ids that a client app named before Apple did, and when to ask for them. */
import type { App } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { openCustomers } from '../customers.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Apple's own notification of a new purchase is mostly here within the first of them; after the last we give up. */
const DELAYS_MS = [2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 3 * DAY_MS]
const LONGEST_DELAY_MS = Math.max(...DELAYS_MS)
/**
 * Apple's ids are digits, and many of them; Xcode's local store counts from 0. Whatever else an app sends is not worth a
 * question.
 */
const APPLE_ID = /^\d{3,24}$/

/** `found` its history was read; `known` Apple told of it by itself; `refused` Apple takes it for no id at all. */
export type LookupOutcome = 'found' | 'known' | 'refused' | 'given_up'
export type Lookup = { app_id: string; original_transaction_id: string; attempts: number }

export type Lookups = ReturnType<typeof openLookups>

export function openLookups(store: Store, clock: Clock, customers: ReturnType<typeof openCustomers>) {
  const insert = store.prepare<[string, string, number, number]>(`
    insert or ignore into lookups (app_id, original_transaction_id, asked_at, attempts, next_at) values (?, ?, ?, 0, ?)`)
  // A time later than the longest delay was set while the clock was ahead.
  const ofApp = store.prepare<[string, number, number, number], Lookup>(`
    select app_id, original_transaction_id, attempts from lookups
    where app_id = ? and next_at is not null and (next_at <= ? or next_at > ?) order by next_at limit ?`)
  const reschedule = store.prepare<[number | null, string | null, string, string]>(`
    update lookups set attempts = attempts + 1, next_at = ?, outcome = ?
    where app_id = ? and original_transaction_id = ?`)
  const end = store.prepare<[LookupOutcome, string, string]>(
    'update lookups set next_at = null, outcome = ? where app_id = ? and original_transaction_id = ?',
  )
  const waiting = store.prepare<[string], { n: number }>(
    'select count(*) as n from lookups where app_id = ? and next_at is not null',
  )

  /** A client app names an id, inside the caller's unit of work: it is asked for where the ledger does not know it. */
  function add(app: App, original_transaction_id: string): void {
    if (!APPLE_ID.test(original_transaction_id)) return
    if (customers.findByLineage(app.id, original_transaction_id) !== null) return
    const now = clock()
    insert.run(app.id, original_transaction_id, now, now + (DELAYS_MS[0] ?? 0))
  }

  /** The ids of an app that are to be asked for now, those that wait longest first. */
  const due = (app_id: string, limit: number): Lookup[] =>
    ofApp.all(app_id, clock(), clock() + LONGEST_DELAY_MS, limit)

  /** Apple does not know it (yet): asked for again later, at ever longer intervals, six times in all. */
  function postpone({ app_id, original_transaction_id, attempts }: Lookup): void {
    const delay = DELAYS_MS[attempts + 1]
    const next_at = delay === undefined ? null : clock() + delay
    reschedule.run(next_at, next_at === null ? 'given_up' : null, app_id, original_transaction_id)
  }

  const settle = ({ app_id, original_transaction_id }: Lookup, outcome: LookupOutcome): void =>
    void end.run(outcome, app_id, original_transaction_id)

  /** How many ids of an app are still to be asked for. */
  const count = (app_id: string): number => waiting.get(app_id)?.n ?? 0

  return { add, due, postpone, settle, count }
}
