/** Makes one attempt of a delivery: checks it, sends it, stores the result. */
import { setTimeout as pass } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Failure } from '../../outgoing/failures.ts'
import type { Answer, OutgoingRequest } from '../../outgoing/requests.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import { type Endpoint, type Endpoints, unreadableLists } from '../endpoints/endpoints.ts'
import { mismatchOf } from '../endpoints/matching.ts'
import type { EndpointSecrets } from '../endpoints/secrets.ts'
import { BodyUnmakeable, type Freezing } from './freezing.ts'
import { ErasedMeanwhile, type InFlight, Stopping } from './in_flight.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { headersOf } from './requests.ts'
import type { Results } from './results.ts'
import type { Throttle } from './throttle.ts'
import type { Troubles } from './troubles.ts'

/**
 * The results of this many milliseconds are stored together, because each commit waits for the disk. A crash in this
 * time repeats these deliveries.
 */
const GATHER_MS = 5

export type AttemptDeps = {
  store: Store
  clock: Clock
  endpoints: Endpoints
  deliveries: Deliveries
  secrets: EndpointSecrets
  freezing: Freezing
  throttle: Pick<Throttle, 'noteSent'>
  inFlight: InFlight
  results: Results
  erasures: { count: () => number }
  troubles: Troubles
  request: (outgoing: OutgoingRequest) => Promise<Answer | Failure>
}

/** What to send, read in the same turn in which the request begins. */
type Prepared = { endpoint: Endpoint; url: string; headers: Record<string, string>; body: Buffer }

type Chosen = { id: number; is_probe: boolean }

export type Attempts = ReturnType<typeof openAttempts>

/** Opens attempts. */
export function openAttempts(deps: AttemptDeps) {
  const { store, clock, freezing, inFlight, results, erasures, troubles, request } = deps
  const prepare = openPreparing(deps, openReading(deps))
  const gather = openGathering()

  /**
   * Tries a delivery once. Nothing is sent if it was finished, or its endpoint paused, since it was chosen. A request
   * that an erasure aborts leaves the delivery as it was.
   *
   * @throws Refusal 503 `store_unavailable`, an error of the store, or of an aborted request
   */
  async function attempt(id: number, endpoint_id: string, is_probe: boolean): Promise<void> {
    const prepared = await prepare(id, endpoint_id).catch((error: unknown) => {
      // The whole database cannot be written; otherwise only this delivery fails.
      if (error instanceof Refusal) throw error
      return ended(() => results.record(id, unmade(error, clock()), { at: clock(), is_probe }))
    })
    if (prepared !== null) await send({ id, is_probe }, prepared)
  }

  async function send({ id, is_probe }: Chosen, { endpoint, url, headers, body }: Prepared): Promise<void> {
    const entry = inFlight.get(id)
    if (entry) entry.body = body
    freezing.noteSent(id)
    deps.throttle.noteSent(endpoint)
    const [at, count, signal] = [clock(), erasures.count(), entry?.abort.signal]
    const sending = request({ url, method: 'POST', headers, body, signal })
    const result = await sending.catch((error: unknown) => resultOf(error, signal))
    inFlight.sent(id)
    if (result === 'erased') return
    if (result === 'stopped') return store.commit(() => results.interrupt(id, at))
    const outcome = outcomeOf(result, endpoint.kind, clock())
    await gather()
    await troubles.storeOrKeep({
      delivery_id: id,
      endpoint_id: endpoint.id,
      record: () => {
        // A receiver may repeat any part of a body that was sent before the erasure.
        const excerpt = erasures.count() === count ? outcome.excerpt : null
        results.record(id, { ...outcome, excerpt }, { at, is_probe })
      },
      mark: (reason) => results.mark(id, outcome, reason),
    })
  }

  const ended = (work: () => void): Promise<null> => store.commit(work).then(() => null)

  return { attempt }
}

/** Returns a function that freezes the body and checks everything that may have changed since. */
function openPreparing(
  { store, endpoints, deliveries, freezing, results }: AttemptDeps,
  readyNow: ReturnType<typeof openReading>,
) {
  const ended = (work: () => void): Promise<null> => store.commit(work).then(() => null)

  return async (id: number, endpoint_id: string): Promise<Prepared | null> => {
    for (;;) {
      const chosen = endpoints.get(endpoint_id)
      const waiting = deliveries.get(id)
      if (chosen === null || waiting?.state !== 'waiting' || !isSending(chosen)) return null
      const mismatch = mismatchOf(chosen, waiting)
      if (mismatch !== null) return ended(() => results.drop(id, mismatch))
      await freezing.freeze(chosen, waiting)
      const ready = readyNow(id, endpoint_id)
      if (ready === 'unreadable') return ended(() => results.disable(endpoint_id, 'secret_unreadable'))
      if (ready !== 'changed') return ready
      await freezing.scrub(id, chosen.kind)
    }
  }
}

/** Returns a function whose callers continue together, each after at most `GATHER_MS`. */
function openGathering(): () => Promise<void> {
  let next: Promise<void> | null = null

  async function passed(): Promise<void> {
    await pass(GATHER_MS)
    next = null
  }

  return () => {
    next ??= passed()
    return next
  }
}

/**
 * Returns a function that reads everything to send, if nothing changed while the body was made. It is synchronous, like
 * the start of the request.
 */
function openReading({ clock, endpoints, deliveries, freezing, secrets }: AttemptDeps) {
  return (id: number, endpoint_id: string): Prepared | 'changed' | 'unreadable' | null => {
    const endpoint = endpoints.get(endpoint_id)
    const delivery = deliveries.get(id)
    if (endpoint === null || delivery?.state !== 'waiting' || !isSending(endpoint)) return null
    if (mismatchOf(endpoint, delivery) !== null) return 'changed'
    const body = freezing.read(id, endpoint.kind)
    if (body === null) return 'changed'
    try {
      const signing = secrets.signing(endpoint)
      const ownHeaders = secrets.headers(endpoint)
      const signed = { kind: endpoint.kind, delivery, body, secrets: signing, ownHeaders, now: clock() }
      return { endpoint, url: endpoint.url, headers: headersOf(signed), body }
    } catch (error) {
      if (error instanceof SecretUnreadable) return 'unreadable'
      throw error
    }
  }
}

/**
 * The result of a request that threw. A request that cannot be made, such as one with an invalid header, is a failure
 * like others, so that it does not stop other deliveries.
 *
 * @throws `error` when it is aborted for another reason
 */
function resultOf(error: unknown, signal: AbortSignal | undefined): Failure | 'erased' | 'stopped' {
  if (error instanceof ErasedMeanwhile) return 'erased'
  if (error instanceof Stopping) return 'stopped'
  if (signal?.aborted || !(error instanceof Error)) throw error
  return { kind: 'invalid_request', words: `The request cannot be made: ${error.message}.` }
}

/** The outcome of an attempt that ended before a request. It fails by itself, on its schedule. */
const unmade = (error: unknown, now: number): Outcome => {
  const message = error instanceof Error ? error.message : String(error)
  const what = error instanceof BodyUnmakeable ? 'The body cannot be made' : 'The request cannot be prepared'
  const words = `${what}: ${message}.`
  return { ...outcomeOf({ kind: 'invalid_request', words }, 'events', now), verdict: 'delivery' }
}

const isSending = ({ state, deleted_at, unreadable }: Endpoint): boolean =>
  deleted_at === null &&
  (state === 'active' || state === 'failing') &&
  unreadableLists({ unreadable }) === null
