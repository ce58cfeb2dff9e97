/** Retry now: what waits for a later attempt is tried at once, because a person asks for it. */
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import { assertDeclared } from '../endpoints/administration.ts'
import type { Endpoint, Endpoints } from '../endpoints/endpoints.ts'
import type { Replay, Replays } from './replays.ts'
import { EVERY_EVENT } from './selection.ts'

export type Retrying = ReturnType<typeof openRetrying>

/** The delivery that a person wants to be the next probe of a failing endpoint, by its endpoint. In memory only. */
export type WantedProbes = Map<string, number>

/** Shorter waits are given in seconds. */
const IN_SECONDS_MS = 300_000

type Deps = {
  store: Store
  clock: Clock
  endpoints: Pick<Endpoints, 'change'>
  /** @throws Refusal 404 `unknown_endpoint` */
  requireEndpoint: (id: string) => Endpoint
  deliveries: Deliveries
  replays: Pick<Replays, 'start'>
  wanted: WantedProbes
  isHeld: () => boolean
  wake: () => void
}

/** Opens retrying. Both functions must run inside a unit of work. */
export function openRetrying(deps: Deps) {
  const { store, clock, endpoints, requireEndpoint, deliveries } = deps
  const retryDelivery = openRetryingOne(deps)

  /**
   * Makes everything that waits for an endpoint due, also while its receiver asked to wait. A failing endpoint is probed at
   * once.
   *
   * @throws Refusal 404 `unknown_endpoint`, 409 `outgoing_held`, 409 `not_active` while it is paused or disabled
   */
  function retryEndpoint(id: string): Endpoint {
    const endpoint = requireEndpoint(id)
    assertSending(endpoint, deps.isHeld())
    const now = clock()
    const next_probe_at = endpoint.state === 'failing' ? now : null
    endpoints.change(endpoint, { hold_until_at: null, next_probe_at })
    if (endpoint.state === 'active') deliveries.retryAll(id, now)
    store.afterCommit(deps.wake)
    return requireEndpoint(id)
  }

  return { retryEndpoint, retryDelivery }
}

/** Returns the function that retries one delivery. */
function openRetryingOne(deps: Deps) {
  const { store, clock, endpoints, requireEndpoint, deliveries, replays, wanted } = deps

  /** Makes a failing endpoint try a delivery now; null is the one whose turn it is. */
  function probe(endpoint: Endpoint, delivery_id: number | null): void {
    endpoints.change(endpoint, { next_probe_at: clock() })
    if (delivery_id !== null) store.afterCommit(() => void wanted.set(endpoint.id, delivery_id))
  }

  /**
   * Makes a delivery that waits for a later attempt due, or replays one that was given up, which `replay` is then. On a
   * failing endpoint a waiting one is the next probe, at once.
   *
   * @throws Refusal 404 `unknown_delivery` or `unknown_endpoint`; 409 `outgoing_held`, `not_active`, `endpoint_on_hold`,
   * `test_delivery`, `delivery_finished`, `delivery_waiting` if a replay has it in hand, or `delivery_behind` if an earlier
   * delivery of its key goes first
   */
  return (id: number, asked_by: string): { delivery: Delivery; replay: Replay | null } => {
    const delivery = deliveries.get(id)
    if (delivery === null)
      throw new Refusal(
        404,
        'unknown_delivery',
        `there is no delivery ${id}; windfall webhooks log lists them`,
      )
    const endpoint = requireEndpoint(delivery.endpoint_id)
    assertRetryable(delivery)
    assertSending(endpoint, deps.isHeld())
    assertNotHeld(endpoint, clock())
    if (delivery.next_at === null && delivery.state === 'waiting')
      throw behind(deliveries.firstOfKey(delivery))
    store.afterCommit(deps.wake)
    const isWaiting = delivery.state === 'waiting'
    if (endpoint.state === 'failing') probe(endpoint, isWaiting ? id : null)
    if (!isWaiting)
      return { delivery, replay: replays.start(endpoint, { ...EVERY_EVENT, delivery_id: id }, asked_by) }
    deliveries.retry(id, clock())
    return { delivery: deliveries.get(id) ?? delivery, replay: null }
  }
}

function assertRetryable({ id, state, loss, is_test }: Delivery): void {
  if (is_test === 1)
    throw new Refusal(409, 'test_delivery', 'a test event cannot be sent again; send another one')
  if (loss === 'queued')
    throw new Refusal(409, 'delivery_waiting', `a replay is about to send the event of delivery ${id} again`)
  if (state === 'waiting' || state === 'failed') return
  const detail = `delivery ${id} is ${state}; replay it to send its event again`
  throw new Refusal(409, 'delivery_finished', detail)
}

function assertSending(endpoint: Endpoint, isHeld: boolean): void {
  const { name, state } = endpoint
  if (isHeld)
    throw new Refusal(409, 'outgoing_held', 'requests are held after a restore; run windfall outgoing resume')
  if (state === 'active' || state === 'failing') return
  assertDeclared(endpoint)
  const detail = `${name} is ${state}; resume it to send what waits: windfall webhooks resume ${name}`
  throw new Refusal(409, 'not_active', detail)
}

function assertNotHeld({ name, hold_until_at }: Endpoint, now: number): void {
  if (hold_until_at === null || hold_until_at <= now) return
  const left_ms = hold_until_at - now
  const time =
    left_ms < IN_SECONDS_MS
      ? `for another ${Math.ceil(left_ms / 1_000)} s`
      : `until ${utcMinuteText(hold_until_at)}`
  const detail = `the receiver of ${name} asked to wait ${time}; to send everything now: windfall webhooks retry ${name}`
  throw new Refusal(409, 'endpoint_on_hold', detail)
}

const behind = (first: number | null): Refusal =>
  new Refusal(
    409,
    'delivery_behind',
    `an earlier delivery of the same subscription goes first; retry delivery ${first ?? 'before it'}`,
  )
