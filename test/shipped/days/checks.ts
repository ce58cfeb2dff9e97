/** Checks what only days show: deliveries given up, an endpoint paused, quiet hours, digests, lost notifications. */
import Database from 'better-sqlite3'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The schedule of ten attempts takes 75.6 hours, ± 20 %. */
const SCHEDULE_MS = { least: 0.8 * 75.6 * HOUR_MS, most: 1.2 * 75.6 * HOUR_MS + 26 * HOUR_MS }
const ATTEMPTS = 10
const PAUSE_DAYS = 5
const QUIET = { from: 22, until: 8 }

type Expected = {
  /** The notifications that Apple never delivered, and that must have been found. */
  lost: readonly string[]
  days: number
  starts_at: number
  zones: { first: string; second: string }
}

/** Returns what is wrong in `file`. */
export function faultsOfDays(file: string, expected: Expected): string[] {
  const db = new Database(file, { readonly: true })
  try {
    return [
      ...faultsOfLost(db, expected.lost),
      ...faultsOfSchedule(db, expected.days),
      ...faultsOfPause(db, expected.days),
      ...faultsOfQuiet(db, expected.zones),
      ...faultsOfDigests(db, expected.days),
    ]
  } finally {
    db.close()
  }
}

function faultsOfLost(db: Database.Database, lost: readonly string[]): string[] {
  const known = new Set(db.prepare<[], string>('select uuid from notifications').pluck().all())
  return lost
    .filter((uuid) => !known.has(uuid))
    .map((uuid) => `the notification ${uuid} was lost, and not found`)
}

/** A delivery that is always refused ends after ten attempts and their schedule. */
function faultsOfSchedule(db: Database.Database, days: number): string[] {
  const ended = db
    .prepare<[], { event_id: string; attempts: number; took: number }>(
      `select event_id, attempts, (select max(at) - min(at) from delivery_attempts where delivery_id = deliveries.id) as took
       from deliveries join endpoints on endpoints.id = endpoint_id
       where name = 'refusing' and deliveries.state = 'failed'`,
    )
    .all()
  const isLongEnough = days * DAY_MS > SCHEDULE_MS.most + DAY_MS
  return [
    ...(isLongEnough && ended.length === 0 ? ['no refused delivery was given up'] : []),
    ...ended.flatMap(({ event_id, attempts, took }) => {
      const isOnTime = took >= SCHEDULE_MS.least - HOUR_MS && took <= SCHEDULE_MS.most
      return attempts === ATTEMPTS && isOnTime
        ? []
        : [`${event_id} was given up after ${attempts} attempts in ${(took / HOUR_MS).toFixed(1)} hours`]
    }),
  ]
}

/** An endpoint that answers nothing for five days is paused, with one event. */
function faultsOfPause(db: Database.Database, days: number): string[] {
  const count = db
    .prepare<[], number>("select count(*) from events where type = 'endpoint.paused'")
    .pluck()
    .get()
  const expected = days > PAUSE_DAYS + 2 ? 1 : 0
  return count === expected ? [] : [`${count} endpoints were paused, not ${expected}`]
}

/** The wall hour of an instant. */
function hourIn(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' })
  return Number(parts.format(at))
}

/** Messages about events that were sent while both zones had quiet hours. */
function faultsOfQuiet(db: Database.Database, zones: Expected['zones']): string[] {
  const sent = db
    .prepare<[], { message_id: string; at: number }>(
      `select message_id, finished_at as at from alert_sends join alert_messages on id = message_id
       where state = 'sent' and (content ->> '$.subject.about') = 'event'`,
    )
    .all()
  const isQuiet = (zone: string, at: number): boolean => {
    const hour = hourIn(zone, at)
    return hour >= QUIET.from || hour < QUIET.until
  }
  return sent.flatMap(({ message_id, at }) =>
    isQuiet(zones.first, at) && isQuiet(zones.second, at)
      ? [`${message_id} was sent at ${new Date(at).toISOString()}, in quiet hours`]
      : [],
  )
}

/** One digest for each day, but those of which the clock was set past the hour of digests. */
function faultsOfDigests(db: Database.Database, days: number): string[] {
  const made = db
    .prepare<[], number>("select count(*) from alert_digests where kind = 'daily' and message_id is not null")
    .pluck()
    .get()
  return Number(made) >= days - 2 && Number(made) <= days + 3 ? [] : [`${made} daily digests in ${days} days`]
}
