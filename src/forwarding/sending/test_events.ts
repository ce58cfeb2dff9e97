/** Sends test events: one attempt, whose result is returned. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import type { Bodies } from '../bodies/bodies.ts'
import type { OwnThings } from '../bodies/own_things.ts'
import { productKindOf, testEvent } from '../bodies/test_event.ts'
import { assertDeclared } from '../endpoints/administration.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import type { AttemptDeps } from './attempts.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { headersOf } from './requests.ts'

type Deps = Pick<AttemptDeps, 'store' | 'endpoints' | 'deliveries' | 'secrets' | 'request'> & {
  clock: Clock
  erasures: { count: () => number; admit: (app_id: string, app_user_id: string) => unknown }
  bodies: Pick<Bodies, 'makeTest'>
  ownThings: (endpoint: Endpoint, kind: string) => OwnThings
  isHeld: () => boolean
}

/** Opens the sending of test events. */
export function openTestEvents(deps: Deps) {
  const { store, secrets, erasures, request, clock, bodies, isHeld } = deps
  const record = openRecording(deps)

  /**
   * Sends an example of a type to an endpoint, once, also while the endpoint is paused or disabled, and returns the id
   * of the delivery. The result changes nothing about the endpoint. `app_user_id`: the user that the event is about; null
   * is an example.
   *
   * @throws Refusal 400 `invalid_request` if the event concerns no user; 410 `forgotten`; 409 `outgoing_held`, `config_removed`, `no_test_events` for Apple’s notifications; SecretUnreadable.
   */
  async function send(
    endpoint: Endpoint,
    type: EventType,
    app_user_id: string | null = null,
  ): Promise<number> {
    if (isHeld())
      throw new Refusal(
        409,
        'outgoing_held',
        'requests are held after a restore; run windfall outgoing resume',
      )
    if (endpoint.kind === 'apple')
      throw new Refusal(
        409,
        'no_test_events',
        'only Apple signs its notifications; request a test notification instead',
      )
    assertDeclared(endpoint)
    const now = clock()
    const { organization_id } = endpoint
    const own = deps.ownThings(endpoint, productKindOf(type))
    if (own.app !== null && app_user_id !== null) erasures.admit(own.app.id, app_user_id)
    const made = testEvent(type, { organization_id, own, app_user_id, now })
    const { event } = made
    const body = bodies.makeTest(made)
    const count = erasures.count()
    const delivery = { event_id: event.id, attempts: 0, replay_id: null }
    const signed = { secrets: secrets.signing(endpoint), ownHeaders: secrets.headers(endpoint) }
    const headers = headersOf({ kind: endpoint.kind, delivery, body, ...signed, now })
    const outcome = outcomeOf(
      await request({ url: endpoint.url, method: 'POST', headers, body }),
      endpoint.kind,
      clock(),
    )
    return store.commit(() => {
      const stored =
        erasures.count() === count
          ? { body, outcome }
          : { body: null, outcome: { ...outcome, excerpt: null } }
      return record(endpoint, event, { ...stored, at: now })
    })
  }

  return { send }
}

/** `body` is null if a user was erased meanwhile, who may be the one of the event. */
type Result = { body: Buffer | null; outcome: Outcome; at: number }

/** Returns a function that stores a test event with its only attempt, and returns the id of its delivery. */
function openRecording({ endpoints, deliveries, clock }: Deps) {
  return (endpoint: Endpoint, event: FeedEvent, { body, outcome, at }: Result): number => {
    if (endpoints.get(endpoint.id)?.deleted_at !== null)
      throw new Refusal(404, 'unknown_endpoint', `${endpoint.name} was deleted meanwhile`)
    const { id: event_id, type, app_id, environment, occurred_at } = event
    const item = { event_id, seq: null, payload_id: null, type, app_id, environment, key: null, occurred_at }
    const flags = { replay_id: null, is_test: 1, is_remade: 0, next_at: null, created_at: at }
    const id = deliveries.add({ ...item, endpoint_id: endpoint.id, ...flags, body })
    const added = deliveries.get(id)
    if (added === null) throw new Error('the delivery was not stored')
    deliveries.addAttempt(added, outcome, { at, is_probe: false })
    const isDelivered = outcome.verdict === 'success'
    const reason = isDelivered ? null : outcome.words
    deliveries.finish({ ...added, attempts: 1 }, isDelivered ? 'delivered' : 'failed', reason, clock())
    return id
  }
}
