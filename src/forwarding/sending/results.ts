/** Stores the results of attempts: the delivery, its endpoint, and the event if the endpoint is paused or disabled. */
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import type { AttemptTime, Deliveries, Delivery } from '../deliveries/deliveries.ts'
import type { Endpoint, Endpoints, Progress, StateReason } from '../endpoints/endpoints.ts'
import type { Outcome } from './outcome.ts'
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
  const upMs = openUptime(deps.monotonic)
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

  /** After an outage all waiting deliveries are due, oldest first. */
  function noteChange(before: Endpoint, after: Progress, now: number): void {
    if (before.state === after.state) return
    if (after.state === 'active') deliveries.makeDue(before.id, now)
    if (after.state === 'paused' || after.state === 'disabled') append(before, after.state, after.reason, now)
  }

  return { record }
}

/**
 * Returns a function that measures the uptime since the last failure of an endpoint, by the monotonic clock, so that a
 * set clock never counts as outage.
 */
function openUptime(monotonic: Clock) {
  const failedAt = new Map<string, number>()
  const openedAt = monotonic()

  return (endpoint_id: string, { verdict }: Outcome): number => {
    const now = monotonic()
    const since = failedAt.get(endpoint_id) ?? openedAt
    if (verdict !== 'success') failedAt.set(endpoint_id, now)
    return now - since
  }
}

/** Returns a function that finishes a delivery after an attempt, or schedules the next one. */
function openSettling({ deliveries, random }: Deps) {
  // The schedule counts only while the endpoint is active.
  return (delivery: Delivery, state: Endpoint['state'], outcome: Outcome, now: number): void => {
    const { id } = delivery
    if (outcome.verdict === 'success') return deliveries.finish(delivery, 'delivered', null, now)
    if (delivery.state !== 'waiting') return deliveries.finish(delivery, delivery.state, delivery.reason, now)
    if (state !== 'active') return deliveries.postpone(id, delivery.failures, delivery.next_at)
    const failures = delivery.failures + 1
    const delay = retryDelayMs(failures, random)
    if (delay !== null)
      return deliveries.postpone(id, failures, now + Math.max(delay, outcome.retry_after_ms ?? 0))
    const reason = `All ${MAX_FAILURES} attempts failed. ${outcome.words}`
    deliveries.finish({ ...delivery, failures }, 'failed', reason, now)
  }
}

/** Returns a function that appends the event of a paused or disabled endpoint. */
function openEndpointEvents(feed: Feed) {
  return (
    endpoint: Endpoint,
    state: 'paused' | 'disabled',
    reason: StateReason | null,
    now: number,
  ): void => {
    const { id, name, organization_id } = endpoint
    feed.append({
      organization_id,
      app_id: null,
      environment: null,
      type: `endpoint.${state}`,
      origin: 'live',
      customer_id: null,
      subject: null,
      cause: `${id}/${now}`,
      data: () => ({ endpoint: { id, name }, reason }),
      occurred_at: now,
      signed_at: null,
    })
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
    if (reason === 'secret_unreadable') append(endpoint, 'disabled', reason, now)
  }

  return { drop, disable }
}
