/** Checks what only days show: deliveries given up, an endpoint paused, quiet hours, digests, lost notifications. */
import Database from 'better-sqlite3'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The schedule of ten attempts takes 75.6 hours, ± 20 %, and 51.6 without its last wait. */
const SCHEDULE_MS = {
  least: 0.8 * 75.6 * HOUR_MS,
  most: 1.2 * 75.6 * HOUR_MS,
  leastPulledBack: 0.8 * 51.6 * HOUR_MS,
}
const ATTEMPTS = 10
/** Within this time after the clock was set back, what waits for more than 25 hours by it is tried. */
const PULLED_BACK_WITHIN_MS = 2 * MINUTE_MS
/** The time in which the program does not run is no outage, and a probe comes once an hour. */
const PAUSE_HOURS = { least: 119.5, most: 125 }
/** An event is sent within this time; an alert is tried again when its channel fails, which each does now and then. */
const LATEST_MS = { webhook: 2 * MINUTE_MS, alert: 15 * MINUTE_MS }
const QUIET = { from: 22, until: 8 }

/** An alert that waits for longer waits for an instant of a clock that was ahead: quiet hours last less. */
const LONGEST_WAIT_MS = 25 * HOUR_MS
/** Within this time after the end of quiet hours, a summary of what they held is sent. */
const SUMMARY_WITHIN_MS = 20 * MINUTE_MS
/** Where quiet hours end on the days on which the clocks change. */
const QUIET_ENDS = [
  { zone: 'Europe/Berlin', at: Date.UTC(2027, 2, 28, 6) },
  { zone: 'Australia/Sydney', at: Date.UTC(2027, 3, 3, 22) },
]

/** Instants are those of the program’s clock, in ms. */
type Expected = {
  days: number
  /** The notifications that Apple never delivered, and that must have been found. */
  lost: readonly string[]
  /** When the receiver `dead` died, and when it came back. */
  died_at: number
  came_back_at: number
  /** The zone of the organization, and since when. */
  zones: readonly { zone: string; since: number }[]
  /** When the clock was set back, as it showed then. */
  set_back_at: number
  /** When the clock was first set ahead by more than a day. */
  ahead_at: number
  ended_at: number
}

/** Returns what is wrong in `file`. */
export function faultsOfDays(file: string, expected: Expected): string[] {
  const db = new Database(file, { readonly: true })
  try {
    return [
      ...faultsOfLost(db, expected.lost),
      ...faultsOfSchedule(db, expected),
      ...faultsOfPause(db, expected),
      ...faultsOfQuiet(db, expected),
      ...faultsOfDigests(db, expected.days),
      ...faultsOfWaiting(db, expected.ended_at),
      ...faultsOfDelay(db),
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

/**
 * A delivery that is always refused ends after ten attempts and their schedule. What the clock that was set ahead made due
 * at once ends earlier, and so does what waits for more than 25 hours by the clock that was set back.
 */
function faultsOfSchedule(db: Database.Database, { days, set_back_at, ahead_at }: Expected): string[] {
  const ended = db
    .prepare<[], { event_id: string; attempts: number; from: number; until: number; instants: string }>(
      // By number: the attempt before the last can have a later instant, of the clock before it was set back.
      `select event_id, deliveries.attempts, min(at) as "from", max(at) filter (where number = deliveries.attempts) as until,
         group_concat(datetime(at / 1000, 'unixepoch'), ', ' order by number) as instants
       from deliveries join endpoints on endpoints.id = deliveries.endpoint_id join delivery_attempts on delivery_id = deliveries.id
       where name = 'refusing' and deliveries.state = 'failed' group by deliveries.id`,
    )
    .all()
  const onSchedule = ended.filter(({ until }) => until < ahead_at)
  const isLongEnough = days * DAY_MS > SCHEDULE_MS.most + 2 * DAY_MS
  return [
    ...(isLongEnough && onSchedule.length === 0 ? ['no refused delivery was given up'] : []),
    ...ended.flatMap(({ event_id, attempts }) =>
      attempts === ATTEMPTS ? [] : [`${event_id} was given up after ${attempts} attempts`],
    ),
    ...onSchedule.flatMap(({ event_id, from, until, instants }) => {
      const took = until - from
      const isPulledBack = until >= set_back_at && until < set_back_at + PULLED_BACK_WITHIN_MS
      const least = isPulledBack ? SCHEDULE_MS.leastPulledBack : SCHEDULE_MS.least
      const isOnTime = took >= least - HOUR_MS && took <= SCHEDULE_MS.most
      const hours = (took / HOUR_MS).toFixed(1)
      return isOnTime ? [] : [`${event_id} was given up after ${hours} hours, with attempts at ${instants}`]
    }),
  ]
}

/** An endpoint that answers nothing for five days is paused, with one event, and works after a person resumed it. */
function faultsOfPause(db: Database.Database, { died_at, came_back_at }: Expected): string[] {
  const paused = db
    .prepare<[], number>("select recorded_at from events where type = 'endpoint.paused'")
    .pluck()
    .all()
  const state = db.prepare<[], string>("select state from endpoints where name = 'dead'").pluck().get()
  const outage = (came_back_at - died_at) / HOUR_MS
  const isRight = paused.length === 0 ? outage < PAUSE_HOURS.most : outage > PAUSE_HOURS.least
  return [
    ...(isRight && paused.length <= 1
      ? []
      : [`${paused.length} endpoints were paused in an outage of ${outage.toFixed(1)} hours`]),
    ...paused.flatMap((at) => {
      const hours = (at - died_at) / HOUR_MS
      return hours >= PAUSE_HOURS.least && hours <= PAUSE_HOURS.most
        ? []
        : [`the endpoint was paused ${hours.toFixed(1)} hours after it died`]
    }),
    ...(state === 'active' ? [] : [`the endpoint that died and came back is ${state}`]),
  ]
}

/** The wall hour of an instant. */
function hourIn(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' })
  return Number(parts.format(at))
}

/**
 * Messages about events, and summaries of them, that were sent in quiet hours; and the ends of quiet hours, on days on which
 * the clocks change, after which no summary of what they held was sent.
 */
function faultsOfQuiet(db: Database.Database, { zones, ended_at }: Expected): string[] {
  const sent = db
    .prepare<[], { message_id: string; at: number; reason: string | null }>(
      `select message_id, finished_at as at, content ->> '$.subject.reason' as reason
       from alert_sends join alert_messages on id = message_id
       where state = 'sent' and content ->> '$.subject.about' in ('event', 'summary')`,
    )
    .all()
  const zoneAt = (at: number): string => zones.findLast(({ since }) => since <= at)?.zone ?? 'UTC'
  const isQuiet = (at: number): boolean => {
    const hour = hourIn(zoneAt(at), at)
    return hour >= QUIET.from || hour < QUIET.until
  }
  const isSummedAfter = (end: number): boolean =>
    sent.some(({ at, reason }) => reason === 'quiet' && at >= end && at < end + SUMMARY_WITHIN_MS)
  const ends = QUIET_ENDS.filter(({ zone, at }) => at < ended_at && zoneAt(at) === zone)
  return [
    ...sent.flatMap(({ message_id, at }) =>
      isQuiet(at) ? [`${message_id} was sent at ${new Date(at).toISOString()}, in quiet hours`] : [],
    ),
    ...ends.flatMap(({ zone, at }) =>
      isSummedAfter(at)
        ? []
        : [`no summary was sent at ${new Date(at).toISOString()}, when quiet hours of ${zone} ended`],
    ),
  ]
}

/** Alerts that wait for an instant that only the clock that was ahead made near. */
function faultsOfWaiting(db: Database.Database, ended_at: number): string[] {
  return db
    .prepare<[number], { message_id: string; due_at: number }>(
      'select message_id, due_at from alert_sends where due_at > ?',
    )
    .all(ended_at + LONGEST_WAIT_MS)
    .map(({ message_id, due_at }) => `${message_id} waits until ${new Date(due_at).toISOString()}`)
}

/** What was late although its receiver works: a clock that is set, or a restart, delays neither webhooks nor alerts. */
function faultsOfDelay(db: Database.Database): string[] {
  return db
    .prepare<object, { id: string; late: number }>(
      `select events.id, at - recorded_at as late
       from events join deliveries on event_id = events.id join endpoints on endpoints.id = deliveries.endpoint_id
       join delivery_attempts on delivery_id = deliveries.id
       where name = 'healthy' and number = 1 and at - recorded_at > :webhook
       union all
       select id, finished_at - created_at from alert_sends join alert_messages on id = message_id
       where state = 'sent' and content ->> '$.subject.about' = 'event' and finished_at - created_at > :alert`,
    )
    .all(LATEST_MS)
    .map(({ id, late }) => `${id} was sent ${(late / MINUTE_MS).toFixed(1)} minutes late`)
}

/** One digest for each day, but those of which the clock was set past the hour of digests. */
function faultsOfDigests(db: Database.Database, days: number): string[] {
  const made = db
    .prepare<[], number>("select count(*) from alert_digests where kind = 'daily' and message_id is not null")
    .pluck()
    .get()
  return Number(made) >= days - 2 && Number(made) <= days + 3 ? [] : [`${made} daily digests in ${days} days`]
}
