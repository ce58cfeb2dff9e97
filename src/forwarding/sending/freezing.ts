/** Makes the bodies of deliveries, once each, without erased users. */
import type { ScrubTarget } from '../../events/scrubbed.ts'
import type { Store } from '../../store/store.ts'
import { scrubBody } from '../bodies/scrubbed_body.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import type { Endpoint, EndpointKind } from '../endpoints/endpoints.ts'
import type { Source } from './sources.ts'

/** A body that was not sent is made again after this time, because it contains the state when it was made. */
const FRESH_MS = 5_000

export type Freezing = ReturnType<typeof openFreezing>

type Deps = {
  store: Store
  deliveries: Deliveries
  sources: Readonly<Record<EndpointKind, Source>>
  /** Counts erasures, and returns those that are not finished. */
  erasures: { count: () => number; pendingTargets: () => readonly ScrubTarget[] }
  monotonic: () => number
}

/** A body that cannot be made, which must not hold back other deliveries. */
export class BodyUnmakeable extends Error {
  override readonly name = 'BodyUnmakeable'
}

/** Opens the making of bodies. */
export function openFreezing(deps: Deps) {
  const { store, deliveries, monotonic } = deps
  const { scrubbed, withBodies } = openMaking(deps)
  const { reuse, read, scrub } = openStoredBodies(deps, scrubbed)
  /** When the bodies that were surely not sent were made. */
  const unsent = new Map<number, number>()

  /** Whether the body must be made: it does not exist, or it was not sent and is no longer fresh. */
  function isDue({ id, attempts, body_bytes }: Delivery): boolean {
    const madeAt = unsent.get(id)
    const isStale = attempts === 0 && madeAt !== undefined && monotonic() - madeAt > FRESH_MS
    return body_bytes === null || isStale
  }

  /** Makes and stores the body of a delivery if it is due. @throws BodyUnmakeable */
  async function freeze(endpoint: Endpoint, delivery: Delivery): Promise<void> {
    if (!isDue(delivery)) return
    const { id, key, event_id, replay_id } = delivery
    if (replay_id !== null && (await reuse(endpoint, delivery))) return
    const isAfterLost = key !== null && deliveries.wasPreviousLost(endpoint.id, key, id)
    await withBodies(endpoint.kind, [delivery], new Set(isAfterLost ? [event_id] : []), (bodyOf) => {
      const body = bodyOf.get(delivery)
      if (body instanceof Error) throw body
      if (body !== undefined) deliveries.setBody(id, body)
      store.afterCommit(() => noteMade(id))
    })
  }

  const noteMade = (id: number): void => void unsent.set(id, monotonic())
  const noteSent = (id: number): void => void unsent.delete(id)

  /** Removes bodies that were not sent, so that the next start makes them again. */
  async function forgetUnsent(): Promise<void> {
    if (unsent.size === 0) return
    await store.commit(() => {
      for (const id of unsent.keys()) deliveries.clearBody(id)
    })
  }

  /** Removes bodies that an earlier process made and did not try, because they contain the state when they were made. */
  const forgetUntried = (): Promise<void> => store.commit(deliveries.clearUntried)

  return { withBodies, scrubbed, freeze, read, scrub, noteMade, noteSent, forgetUnsent, forgetUntried }
}

type Unmade = Pick<Delivery, 'event_id' | 'payload_id'>
/** A body, or why there is none. */
type Made = Buffer | BodyUnmakeable
type Scrubbed = (body: Buffer, kind: EndpointKind) => Buffer

/** Reads and changes stored bodies. */
function openStoredBodies({ store, deliveries }: Deps, scrubbed: Scrubbed) {
  /** Uses the bytes of the first delivery of the event, if they are stored. Resolves to whether they are. */
  function reuse({ id: endpoint_id, kind }: Endpoint, { id, event_id }: Delivery): Promise<boolean> {
    return store.commit(() => {
      const kept = deliveries.keptBody(endpoint_id, event_id)
      if (kept !== null) deliveries.setBody(id, scrubbed(kept, kind))
      return kept !== null
    })
  }

  /**
   * The body to send now; null if it names a user who is being erased. `scrub` removes the user then.
   */
  function read(id: number, kind: EndpointKind): Buffer | null {
    const body = deliveries.body(id)
    return body !== null && scrubbed(body, kind) === body ? body : null
  }

  /** Removes users that are being erased from a stored body. */
  const scrub = (id: number, kind: EndpointKind): Promise<void> =>
    store.commit(() => {
      const body = deliveries.body(id)
      if (body !== null) deliveries.setBody(id, scrubbed(body, kind))
    })

  return { reuse, read, scrub }
}

/** Makes bodies without erased users. */
function openMaking({ store, sources, erasures }: Deps) {
  /** A body without the users that are being erased. Apple’s notifications stay as Apple signed them. */
  const scrubbed = (body: Buffer, kind: EndpointKind): Buffer =>
    kind === 'apple' ? body : erasures.pendingTargets().reduce(scrubBody, body)

  /** Makes all bodies at once, or those of each half if one of them cannot be made. */
  async function make(
    kind: EndpointKind,
    items: readonly Unmade[],
    lost: ReadonlySet<string>,
  ): Promise<Made[]> {
    if (items.length === 0) return []
    try {
      return await sources[kind].bodies(items, lost)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (items.length === 1) return [new BodyUnmakeable(message, { cause: error })]
    }
    const middle = items.length >> 1
    const before = await make(kind, items.slice(0, middle), lost)
    return [...before, ...(await make(kind, items.slice(middle), lost))]
  }

  /**
   * Makes the bodies of items and calls `work` with them in a unit of work. If a user was erased meanwhile, they are
   * made again.
   */
  async function withBodies<Item extends Unmade, Result>(
    kind: EndpointKind,
    items: readonly Item[],
    lost: ReadonlySet<string>,
    work: (bodyOf: ReadonlyMap<Item, Made>) => Result,
  ): Promise<Result> {
    for (;;) {
      const count = erasures.count()
      const bodies = await make(kind, items, lost)
      const result = await store.commit(() => {
        if (erasures.count() !== count) return null
        const entries = items.map((item, index) => {
          const body = bodies[index] as Made
          return [item, body instanceof Error ? body : scrubbed(body, kind)] as const
        })
        return { value: work(new Map(entries)) }
      })
      if (result !== null) return result.value
    }
  }

  return { scrubbed, withBodies }
}
