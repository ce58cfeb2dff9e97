/** Turns the backlog behind an endpoint’s cursor, or a replay’s range, into deliveries that are about to be tried. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries, Item } from '../deliveries/deliveries.ts'
import type { Endpoint, EndpointKind, Endpoints } from '../endpoints/endpoints.ts'
import type { Freezing } from './freezing.ts'
import type { Slice, Source } from './sources.ts'

/** An endpoint has at most this many rows that are about to be tried; then its cursor waits. */
const MAX_PENDING = 1_000
/** It has at most this many rows in all, most of which wait for a far retry; then its cursor waits, too. */
export const MAX_WAITING = 50_000
/** The number of deliveries that are made together. */
const BATCH = 64
/** The cursor is stored at least after this many positions without a match. */
const STORE_CURSOR_EVERY = 10_000

export type Filling = ReturnType<typeof openFilling>

type Deps = {
  store: Store
  clock: Clock
  endpoints: Endpoints
  deliveries: Deliveries
  freezing: Freezing
  sources: Readonly<Record<EndpointKind, Source>>
}

/** What is made of items, and the row that remembers how far. `isBare`: without bodies. */
type Batch = { items: readonly Item[]; replay_id: string | null; isBare?: boolean }

/** `body`: the body that was made, if one was needed. A blocked item gets its body before its first attempt. */
type Making = { isBlocked: boolean; body: Buffer | null }

/** Opens the filling. */
export function openFilling(deps: Deps) {
  const { store, endpoints, deliveries, sources } = deps
  const { add } = openAdding(deps)
  const fillBeyond = openFillingBeyond(deps, add)
  const room = openRoom(deps)
  /** Positions up to which nothing matched, beyond the stored cursor. */
  const scanned = new Map<string, number>()

  const positionOf = (endpoint: Endpoint): number =>
    Math.max(endpoint.cursor, scanned.get(keyOf(endpoint)) ?? 0)

  const headOf = (kind: EndpointKind): number => sources[kind].head()

  /** Whether anything is behind the cursor of an endpoint. */
  const isBehind = (endpoint: Endpoint): boolean => positionOf(endpoint) < sources[endpoint.kind].head()

  /** Whether anything is behind the cursor, and rows may be added. */
  const isPossible = (endpoint: Endpoint): boolean => isBehind(endpoint) && room(endpoint.id) > 0

  /** Whether the cursor waits because an endpoint has as many rows as it may have. */
  const isFull = (endpoint: Endpoint): boolean =>
    isBehind(endpoint) && deliveries.waiting(endpoint.id, MAX_WAITING) >= MAX_WAITING

  /**
   * Makes deliveries of the next items of an endpoint, at most `most`, with the cursor in one commit. Resolves to
   * whether anything was read.
   */
  async function fill(endpoint: Endpoint, most = BATCH): Promise<boolean> {
    const limit = Math.min(most, room(endpoint.id))
    const source = sources[endpoint.kind]
    const until = source.head()
    const after = positionOf(endpoint)
    if (limit <= 0 || after >= until) return false
    const { items, reached } = source.read(endpoint, { after, until, limit })
    if (items.length > 0) await addIsolated(add, endpoint, { items, reached }, move)
    else if (reached - endpoint.cursor < STORE_CURSOR_EVERY) scanned.set(keyOf(endpoint), reached)
    else await store.commit(() => move(endpoint, reached))
    return true
  }

  /** Moves the cursor, unless the endpoint changed since `before`. Returns whether it moved. */
  function move(before: Endpoint, cursor: number): boolean {
    const endpoint = endpoints.get(before.id)
    if (endpoint?.cursor !== before.cursor || !isUnchanged(endpoint, before)) return false
    endpoints.moveCursor(before.id, cursor)
    scanned.delete(keyOf(before))
    return true
  }

  /** Stores the positions up to which endpoints were read, so that the next start does not read so far again. */
  async function storePositions(): Promise<void> {
    if (scanned.size === 0) return
    await store.commit(() => {
      for (const endpoint of endpoints.list()) endpoints.moveCursor(endpoint.id, positionOf(endpoint))
    })
  }

  return { fill, fillBeyond, add, headOf, isBehind, isPossible, isFull, positionOf, storePositions }
}

/** Returns a function that makes a delivery beyond the cursor of an endpoint, which stays where it is. */
function openFillingBeyond(
  { endpoints, deliveries, sources }: Deps,
  add: ReturnType<typeof openAdding>['add'],
) {
  /** Whether an earlier item of the same key waits, as a delivery or behind the cursor. */
  function isHeldBack(endpoint: Endpoint, { key, seq }: Item): boolean {
    if (key === null || seq === null) return false
    const before = { after: endpoint.cursor, until: seq - 1 }
    return (
      deliveries.isKeyWaiting(endpoint.id, key, false) ||
      sources[endpoint.kind].isKeyIn(endpoint, key, before)
    )
  }

  /**
   * Makes the delivery of the next item after `after`, unless an earlier one of its key waits. Resolves to the position
   * up to which it is done. When the cursor comes there, the source leaves out what has a delivery.
   */
  return async (endpoint: Endpoint, after: number): Promise<number> => {
    const source = sources[endpoint.kind]
    const { items, reached } = source.read(endpoint, { after, until: source.head(), limit: 1 })
    const [item] = items
    if (!item || isHeldBack(endpoint, item)) return reached
    let done = after
    await addIsolated(add, endpoint, { items, reached }, ({ id, cursor, state_since }) => {
      const now = endpoints.get(id)
      // What was skipped while the body was made, and has failed again since, is not sent.
      if (now?.cursor !== cursor || now.state_since !== state_since) return false
      done = reached
      return true
    })
    return done
  }
}

/** Returns the function that says how many rows may be added to an endpoint now. */
const openRoom =
  ({ clock, deliveries }: Pick<Deps, 'clock' | 'deliveries'>) =>
  (endpoint_id: string): number =>
    Math.min(
      BATCH,
      MAX_WAITING - deliveries.waiting(endpoint_id, MAX_WAITING),
      MAX_PENDING - deliveries.pending(endpoint_id, clock(), MAX_PENDING),
    )

const keyOf = ({ id, kind }: Endpoint): string => `${id}/${kind}`

/**
 * Adds items. If one of them is refused, adds only the first, so that the bad one is found; that one is added without its
 * body, and fails by itself.
 */
async function addIsolated(
  add: ReturnType<typeof openAdding>['add'],
  endpoint: Endpoint,
  { items, reached }: Slice,
  move: (endpoint: Endpoint, reached: number) => boolean,
): Promise<void> {
  const batch = { items, replay_id: null }
  try {
    await add(endpoint, batch, () => move(endpoint, reached))
  } catch (error) {
    if (error instanceof Refusal) throw error
    const [first] = items
    if (items.length === 1 || !first)
      return add(endpoint, { ...batch, isBare: true }, () => move(endpoint, reached))
    const position = first.seq ?? first.payload_id ?? reached
    await addIsolated(add, endpoint, { items: [first], reached: position }, move)
  }
}

/** Whether an endpoint still has the state and the filter with which items were read. */
function isUnchanged(endpoint: Endpoint | null, before: Endpoint): boolean {
  const readBy = ({ state, deleted_at, kind, apps, environment, types, default_set, is_ordered }: Endpoint) =>
    JSON.stringify([state, deleted_at, kind, apps, environment, types, default_set, is_ordered])
  return endpoint !== null && readBy(endpoint) === readBy(before)
}

/** A body. A delivery whose body cannot be made fails by itself, on its schedule. */
const madeOf = (body: Buffer | Error | undefined): Buffer | null => (body instanceof Buffer ? body : null)

/** Adds deliveries with their bodies. */
function openAdding({ store, clock, endpoints, deliveries, freezing }: Deps) {
  const { blockedAmong, lostBefore } = openKeyOrder(deliveries)

  /**
   * Adds deliveries if the endpoint did not change and `advance`, which moves the cursor, returns true. Only those that
   * are due now get a body: others wait for an earlier delivery of their key. A replay sends the bytes of the first
   * delivery, if they are stored.
   */
  async function add(endpoint: Endpoint, batch: Batch, advance: () => boolean): Promise<void> {
    const { items } = batch
    const blocked = blockedAmong(endpoint.id, batch)
    const isUnmade = (item: Item) => !blocked.has(item) && keptBody(endpoint, batch, item) === null
    const unmade = batch.isBare ? [] : items.filter(isUnmade)
    await freezing.withBodies(endpoint.kind, unmade, lostBefore(endpoint.id, unmade), (bodyOf) => {
      if (!isUnchanged(endpoints.get(endpoint.id), endpoint) || !advance()) return
      const isBlocked = blockedAmong(endpoint.id, batch)
      for (const item of items) {
        const body = madeOf(bodyOf.get(item))
        const id = insert(endpoint, batch, item, { isBlocked: isBlocked.has(item), body })
        // A request can begin before the caller of the commit continues.
        if (body !== null) store.afterCommit(() => freezing.noteMade(id))
      }
    })
  }

  /** The bytes of the first delivery of an item, for a replay. */
  const keptBody = ({ id }: Endpoint, { replay_id }: Batch, { event_id }: Item): Buffer | null =>
    replay_id === null ? null : deliveries.keptBody(id, event_id)

  function insert(endpoint: Endpoint, batch: Batch, item: Item, { isBlocked, body }: Making): number {
    const now = clock()
    const { replay_id } = batch
    const kept = keptBody(endpoint, batch, item)
    const ready = kept === null ? body : freezing.scrubbed(kept, endpoint.kind)
    const is_remade = replay_id !== null && kept === null ? 1 : 0
    const state = { next_at: isBlocked ? null : now, created_at: now, body: isBlocked ? null : ready }
    return deliveries.add({ ...item, endpoint_id: endpoint.id, replay_id, is_test: 0, is_remade, ...state })
  }

  return { add }
}

/** The order of items of one key. */
function openKeyOrder(deliveries: Deliveries) {
  /** The items that wait behind another delivery of their key. */
  function blockedAmong(endpoint_id: string, { items, replay_id }: Batch): ReadonlySet<Item> {
    const keys = new Set<string>()
    const blocked = new Set<Item>()
    for (const item of items) {
      const { key } = item
      if (key === null) continue
      if (keys.has(key) || deliveries.isKeyWaiting(endpoint_id, key, replay_id !== null)) blocked.add(item)
      keys.add(key)
    }
    return blocked
  }

  /** The ids of items whose previous delivery of the same key was given up. */
  const lostBefore = (endpoint_id: string, items: readonly Item[]): ReadonlySet<string> =>
    new Set(
      items
        .filter(
          ({ key }) => key !== null && deliveries.wasPreviousLost(endpoint_id, key, Number.MAX_SAFE_INTEGER),
        )
        .map(({ event_id }) => event_id),
    )

  return { blockedAmong, lostBefore }
}
