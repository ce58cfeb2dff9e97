/** Compares the database of a stopped server with everything that the world around it knows. */
import Database from 'better-sqlite3'
import { faultsIn } from '../../faults/database_faults.ts'
import type { Model } from '../../faults/model.ts'
import type { Stop } from '../program.ts'
import type { Accepted } from '../world/phones.ts'
import type { Seen } from '../world/posting.ts'
import type { ReadEvent } from '../world/reader.ts'
import type { Receipt } from '../world/receivers.ts'
import { faultsOfAlerts } from './alerts.ts'
import { faultsOfDeliveries } from './deliveries.ts'
import { faultsOfFeed } from './feed.ts'
import { type Began, missingDeliveries } from './missing.ts'

/**
 * What the processes of the world saw, null for one that did not exist. `began`: the endpoints that did not begin with the
 * first event. `until`: what was recorded before this instant (ms) must have been delivered, read and alerted.
 * `rightTime`: the right time when the program’s clock showed another.
 */
export type Evidence = {
  seen: readonly Seen[]
  receipts: readonly Receipt[]
  accepted: readonly Accepted[]
  read: readonly ReadEvent[] | null
  stops: readonly Stop[]
  began: Readonly<Record<string, Began>>
  until: number
  rightTime: (at: number) => number
}

/** Apple's history brings what no process posted. */
const FROM_HISTORY = /^the (payload|notification) .* was never sent$/

/** The calls of several processes as one model. Their users and purchases are different ones. */
function modelOf(seen: readonly Seen[]): Model {
  const merged = <Value>(maps: readonly Map<string, Value>[]) => new Map(maps.flatMap((map) => [...map]))
  return {
    users: merged(seen.map(({ users }) => users)),
    links: merged(seen.map(({ links }) => links)),
    notifications: merged(seen.map(({ notifications }) => notifications)),
    signed: merged(seen.map(({ signed }) => signed)),
    sending: () => {},
    answered: () => {},
  }
}

/** Returns what is wrong in `file`. */
export function faultsOfDatabase(file: string, evidence: Evidence): string[] {
  const { seen, accepted, read, stops, until } = evidence
  const db = new Database(file, { readonly: true })
  try {
    return [
      ...seen.flatMap(({ refused }) => refused.map((words) => `refused: ${words}`)),
      ...faultsIn(file, modelOf(seen)).filter((fault) => !FROM_HISTORY.test(fault)),
      ...faultsOfDeliveries(db, evidence),
      ...faultsOfAlerts(db, accepted, { stops, until }),
      ...(read === null ? [] : faultsOfFeed(db, read, until)),
    ]
  } finally {
    db.close()
  }
}

/** The messages are more than these providers take. They wait, and are summed when they are half an hour late and may be sent. */
const LATE_MINUTES = { telegram: 31, ntfy: 31, mail: 91 }

/** What is due at `now` (ms) and not done: deliveries and events of active endpoints that are not slow, and alerts. */
export function dueIn(file: string, now: number, began: Evidence['began']): string[] {
  const db = new Database(file, { readonly: true })
  try {
    const due = db
      .prepare<object, string>(`
        select 'a delivery to ' || name from deliveries join endpoints on endpoints.id = endpoint_id
          where endpoints.state = 'active' and name <> 'slow' and deliveries.state = 'waiting' and next_at <= :now
            and coalesce(hold_until_at, 0) <= :now
        union all select 'an alert for ' || name || ', ' || alert_sends.state from alert_sends
          join alert_channels on alert_channels.id = channel_id join alert_messages on alert_messages.id = message_id
          where (due_at <= :now and alert_messages.created_at <= :now - 60000 * coalesce(:late ->> name, 0))
            or alert_sends.state = 'sending'`)
      .pluck()
      .all({ now, late: JSON.stringify(LATE_MINUTES) })
    return [...due, ...missingDeliveries(db, { began, until: now })]
  } finally {
    db.close()
  }
}

/** The newest event. */
export function headIn(file: string): number {
  const db = new Database(file, { readonly: true })
  try {
    return Number(db.prepare('select coalesce(max(seq), 0) from events').pluck().get())
  } finally {
    db.close()
  }
}

/** What the report of a soak counts. */
export function countsIn(file: string): Record<string, number> {
  const db = new Database(file, { readonly: true })
  try {
    const count = (sql: string): number => Number(db.prepare(sql).pluck().get())
    return {
      notifications: count('select count(*) from notifications'),
      events: count('select count(*) from events'),
      deliveries: count("select count(*) from deliveries where state = 'delivered'"),
      attempts: count('select count(*) from delivery_attempts'),
      given_up: count("select count(*) from deliveries where state = 'failed'"),
      alerts: count("select count(*) from alert_sends where state = 'sent'"),
    }
  } finally {
    db.close()
  }
}
