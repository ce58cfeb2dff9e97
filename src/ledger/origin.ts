/** Decides the origin of an event from how its fact arrived and how old it was. */
import type { EventType, Origin } from '../events/vocabulary.ts'
import type { Source } from './raw.ts'

/**
 * How a fact arrived. `source` is stored with its payload. `origin` is stored with a notification and does not depend
 * on age: `live` if Apple or a client app sent the fact to a connected app, `recovered` if it was pending or missing,
 * `backfill` if Windfall read it from the history before the connection or looked it up.
 */
export type Arrival = { origin: Origin; source: Source }

/** The arrival of an event's fact. `signed_at`: when Apple signed the notification that contained it, if known. */
export type EventArrival = Arrival & { signed_at: number | null }

/** An event of a fact that is older than this (milliseconds) is not `live`. */
const LIVE_MS = 3_600_000

/**
 * The origin of an event at `now` (milliseconds). The backfill's facts are `backfill` whatever their age.
 * `trial.converted` and the facts that client apps sent are judged by `occurred_at`: they are `live` or `backfill`.
 * Facts of other notifications are judged by when Apple signed the notification: they are `live` or `recovered`. An
 * undated notification is one of Apple's first, so it is old.
 */
export function originOf(
  { type, occurred_at }: { type: EventType; occurred_at: number },
  { origin, source, signed_at }: EventArrival,
  now: number,
): Origin {
  if (origin === 'backfill') return 'backfill'
  if (type === 'trial.converted' || source === 'device')
    return now - occurred_at > LIVE_MS ? 'backfill' : 'live'
  return now - (signed_at ?? 0) > LIVE_MS ? 'recovered' : 'live'
}
