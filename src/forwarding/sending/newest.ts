/** Finds the events that are recorded while an endpoint is failing, each of which is tried once at once. */
import type { Clock } from '../../clock.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import type { Filling } from './filling.ts'

/** A failing endpoint gets at most one new event in this time. */
const NEW_EVERY_MS = 60_000

/** `head`: what is recorded after it is new. `reached`: up to there the new events became deliveries. */
type Known = { state_since: number; head: number; reached: number; tried_at: number | null }

/** Remembers where the feed ended when an endpoint began to fail, or at the start, and when a new event was tried last. */
export function openNewest({ monotonic, filling }: { monotonic: Clock; filling: Filling }) {
  const known = new Map<string, Known>()
  /** Where the feed ended when an active endpoint was served last. */
  const heads = new Map<string, number>()
  const headsAtStart = { events: filling.headOf('events'), apple: filling.headOf('apple') }

  /** Notes where the feed ends while an endpoint is active. What is recorded in the turn in which it fails is new. */
  const noteHead = ({ id, kind }: Endpoint): void => void heads.set(`${id}/${kind}`, filling.headOf(kind))

  function of({ id, kind, state_since }: Endpoint): Known {
    const key = `${id}/${kind}`
    const before = known.get(key)
    if (before?.state_since === state_since) return before
    const head = heads.get(key) ?? headsAtStart[kind]
    const fresh: Known = { state_since, head, reached: head, tried_at: null }
    known.set(key, fresh)
    return fresh
  }

  /** Whether a minute passed since the last new event was tried. */
  function isAllowed(endpoint: Endpoint): boolean {
    const { tried_at } = of(endpoint)
    return tried_at === null || monotonic() - tried_at >= NEW_EVERY_MS
  }

  /** Whether a new event has no delivery yet. */
  const isNext = (endpoint: Endpoint): boolean =>
    Math.max(filling.positionOf(endpoint), of(endpoint).reached) < filling.headOf(endpoint.kind)

  /** Makes the delivery of the next new event. What was recorded before stays behind the cursor. */
  async function fill(endpoint: Endpoint): Promise<boolean> {
    const one = of(endpoint)
    if (filling.positionOf(endpoint) >= one.reached) return filling.fill(endpoint, 1)
    one.reached = await filling.fillBeyond(endpoint, one.reached)
    return true
  }

  /** Whether an untried delivery is of a new event, also one that was made beyond the cursor before a crash. */
  const isNew = (endpoint: Endpoint, { seq, payload_id }: Delivery): boolean =>
    (seq ?? payload_id ?? 0) > Math.min(of(endpoint).head, endpoint.cursor)

  function note(endpoint: Endpoint): void {
    of(endpoint).tried_at = monotonic()
  }

  return { noteHead, isAllowed, isNext, isNew, fill, note }
}
