/** Stores the results of attempts: the delivery, its endpoint, and the event if the endpoint is paused, disabled or recovered. */
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import type { AttemptTime, Deliveries } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import { openEndpointEvents } from '../endpoints/endpoint_events.ts'
import type { Endpoint, Endpoints, Progress } from '../endpoints/endpoints.ts'
import { ABORTED, type Outcome } from './outcome.ts'
import { MAX_FAILURES, retryDelayMs } from './schedule.ts'
import { freshProgress, progressAfter } from './states.ts'

type Deps = {
  clock: Clock
  monotonic: Clock
  random: () => number
  feed: Feed
  endpoints: Endpoints
  deliveries: Deliveries
  /** A text of the receiver without users that are being erased; null if it names one. */
  scrubText: (text: string | null, app_id: string | null) => string | null
}

export type Results = ReturnType<typeof openResults>

/** Opens the results. All functions must run inside a unit of work. */
export const openResults = (deps: Deps) => ({ ...openRecording(deps), ...openEnds(deps) })

/** Stores the outcomes of attempts. */
function openRecording(deps: Deps) {
  const { clock, endpoints, deliveries } = deps
  const upMs = openUptime(deps)
  const settle = openSettling(deps)
  const append = openEndpointEvents(deps.feed)

  /** Stores the outcome of an attempt. */
  function record(id: number, found: Outcome, time: AttemptTime): void {
    const delivery = deliveries.get(id)
    const endpoint = delivery && endpoints.get(delivery.endpoint_id)
    if (!delivery || !endpoint) return
    const outcome = { ...found, excerpt: deps.scrubText(found.excerpt, delivery.app_id) }
    deliveries.addAttempt(delivery, outcome, time)
    const now = clock()
    const next = progressAfter(endpoint, { ...outcome, ...time, now, up_ms: upMs(endpoint.id, outcome) })
    endpoints.setProgress(endpoint.id, next)
    settle({ ...delivery, attempts: delivery.attempts + 1 }, endpoint.state, outcome, now)
    noteChange(endpoint, next, now)
  }

  /** Stores that there was an attempt whose outcome cannot be stored, and why. Its endpoint stays as it is. */
  function mark(id: number, { verdict, kind, words }: Outcome, reason: string): void {
    const delivery = deliveries.get(id)
    const endpoint = delivery && endpoints.get(delivery.endpoint_id)
    if (!delivery || !endpoint) return
    const now = Math.floor(clock())
    const outcome = {
      ...NOTHING,
      verdict,
      kind,
      words: `${words} The result could not be stored: ${reason}.`,
    }
    deliveries.addAttempt(delivery, outcome, { at: now, is_probe: false })
    settle({ ...delivery, attempts: delivery.attempts + 1 }, endpoint.state, outcome, now)
  }

  /** Counts an attempt that a stop of Windfall aborted. It uses up no schedule, and says nothing about the endpoint. */
  function interrupt(id: number, at: number): void {
    const delivery = deliveries.get(id)
    if (delivery?.state !== 'waiting') return
    const words = 'Windfall stopped before the receiver answered.'
    const outcome: Outcome = { ...NOTHING, verdict: 'endpoint', kind: 'stopped', words }
    deliveries.addAttempt(delivery, outcome, { at, is_probe: false })
    deliveries.postpone(id, delivery.failures, delivery.next_at)
  }

  /** After an outage all waiting deliveries are due, oldest first. */
  function noteChange(before: Endpoint, after: Progress, now: number): void {
    const { state, reason } = after
    if (before.state === state || state === 'failing') return
    if (state === 'active') deliveries.makeDue(before.id, now)
    const type = state === 'active' ? 'endpoint.recovered' : (`endpoint.${state}` as const)
    const data = state === 'active' ? { failing_since: before.state_since } : { reason }
    append(before, { type, cause: now, data, occurred_at: now })
  }

  return { record, mark, interrupt }
}

/** The fields of an outcome that are unknown. */
const NOTHING = { status: null, ms: null, address: null, excerpt: null, clock_ms: null, retry_after_ms: null }

/**
 * Returns a function that measures the uptime since the last failure of an endpoint, by the monotonic clock, so that a
 * set clock never counts as outage.
 */
function openUptime({ monotonic, endpoints }: Deps) {
  const failedAt = new Map<string, number>()
  const openedAt = monotonic()

  function forgetDeleted(): void {
    for (const id of failedAt.keys()) if (endpoints.get(id)?.deleted_at !== null) failedAt.delete(id)
  }

  return (endpoint_id: string, { verdict }: Outcome): number => {
    const now = monotonic()
    const since = failedAt.get(endpoint_id) ?? openedAt
    if (verdict === 'success') failedAt.delete(endpoint_id)
    else if (failedAt.has(endpoint_id)) failedAt.set(endpoint_id, now)
    else {
      forgetDeleted()
      failedAt.set(endpoint_id, now)
    }
    return Math.floor(now - since)
  }
}

/** Returns a function that finishes a delivery after an attempt, or schedules the next one. */
function openSettling({ deliveries, random }: Deps) {
  // The schedule counts only while the endpoint is active.
  return (delivery: Delivery, state: Endpoint['state'], outcome: Outcome, now: number): void => {
    const { id } = delivery
    if (outcome.verdict === 'success') return deliveries.finish(delivery, 'delivered', null, now)
    if (delivery.state !== 'waiting') return deliveries.finish(delivery, delivery.state, delivery.reason, now)
    if (outcome.kind === ABORTED)
      return deliveries.finish(delivery, 'failed', `Aborted by the receiver. ${outcome.words}`, now)
    if (state !== 'active') return deliveries.postpone(id, delivery.failures, delivery.next_at)
    const failures = delivery.failures + 1
    const delay = retryDelayMs(failures, random)
    if (delay !== null)
      return deliveries.postpone(id, failures, now + Math.max(delay, outcome.retry_after_ms ?? 0))
    const reason = `All ${MAX_FAILURES} attempts failed. ${outcome.words}`
    deliveries.giveUp({ ...delivery, failures }, reason, now)
  }
}

/** Drops deliveries and disables endpoints. */
function openEnds({ clock, feed, endpoints, deliveries }: Deps) {
  const append = openEndpointEvents(feed)

  /** Drops a delivery that its endpoint no longer receives. */
  function drop(id: number, reason: string): void {
    const delivery = deliveries.get(id)
    if (delivery?.state !== 'waiting') return
    deliveries.finish(delivery, 'dropped', reason, clock())
  }

  /** Disables an endpoint. One that is no longer declared has no secret, whatever disabled it before. */
  function disable(endpoint_id: string, reason: 'secret_unreadable' | 'config_removed'): void {
    const endpoint = endpoints.get(endpoint_id)
    if (endpoint === null || endpoint.reason === reason) return
    // What is not declared has no secret, so that it cannot be resumed, for whatever reason it was disabled before.
    if (endpoint.state === 'disabled' && reason !== 'config_removed') return
    const now = clock()
    endpoints.change(endpoint, freshProgress('disabled', reason, now))
    if (reason === 'secret_unreadable')
      append(endpoint, { type: 'endpoint.disabled', cause: now, data: { reason }, occurred_at: now })
  }

  return { drop, disable }
}
