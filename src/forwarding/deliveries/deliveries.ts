/** The stored deliveries and their attempts. All writing functions must run inside a unit of work. */
import { hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Store } from '../../store/store.ts'
import type { Outcome } from '../sending/outcome.ts'
import { type Delivery, type DeliveryState, FIELDS } from './delivery.ts'
import { openLosses } from './losses.ts'
import { openQueue } from './queue.ts'

/** What a new delivery is of. */
export type Item = Pick<
  Delivery,
  'event_id' | 'seq' | 'payload_id' | 'type' | 'app_id' | 'environment' | 'key' | 'occurred_at'
>
type NewDelivery = Item &
  Pick<Delivery, 'endpoint_id' | 'replay_id' | 'is_test' | 'is_remade' | 'next_at' | 'created_at'> & {
    body: Buffer | null
  }
type Stored = { body: Buffer | null; body_bytes: number | null }
type Frozen = Stored & { body_sha256: Buffer | null }

export type Deliveries = ReturnType<typeof openDeliveries>

/** Opens the deliveries. */
export function openDeliveries(store: Pick<Store, 'prepare'>) {
  const keys = openKeys(store)
  const losses = openLosses(store)
  const results = openResults(store, keys.releaseNext, losses)
  const rows = openRows(store, losses)
  return { ...rows, ...openQueue(store), ...keys, ...results, ...openAttemptLog(store), ...losses }
}

type Losses = ReturnType<typeof openLosses>

/** This many refused deliveries of an endpoint that wait keep their bodies. Those of older ones are made again. */
const MAX_REFUSED = 1_000
/** The number of bodies that one unit of work removes. */
const CLEARED = 64

/** Adds and reads deliveries and their bodies. */
function openRows(store: Pick<Store, 'prepare'>, losses: Pick<Losses, 'follow'>) {
  const insert = store.prepare<NewDelivery & Frozen>(`
    insert into deliveries (endpoint_id, replay_id, event_id, seq, payload_id, type, app_id, environment, key, is_test,
      is_remade, state, attempts, failures, next_at, body, body_bytes, body_sha256, occurred_at, created_at)
    values (:endpoint_id, :replay_id, :event_id, :seq, :payload_id, :type, :app_id, :environment, :key, :is_test,
      :is_remade, 'waiting', 0, 0, :next_at, :body, :body_bytes, :body_sha256, :occurred_at, :created_at)`)
  const selectById = store.prepare<[number], Delivery>(`select ${FIELDS} from deliveries where id = ?`)
  const selectBody = store.prepare<[number], Stored>('select body, body_bytes from deliveries where id = ?')
  const selectKept = store.prepare<[string, string], Stored>(`
    select body, body_bytes from deliveries where endpoint_id = ? and event_id = ? and body is not null order by id desc limit 1`)
  // A body that is made again after an attempt may differ from the one that was sent.
  const updateBody = store.prepare<Frozen & { id: number }>(`
    update deliveries set is_remade = iif(attempts > 0 and body_bytes is null, 1, is_remade), body = :body,
      body_bytes = :body_bytes, body_sha256 = :body_sha256 where id = :id`)

  // A replay that has the bytes of the first delivery keeps them.
  const updateUntried = store.prepare<[]>(`
    update deliveries set body = null, body_bytes = null, body_sha256 = null
    where id in (select deliveries.id from endpoints cross join deliveries on endpoint_id = endpoints.id
      where deliveries.state = 'waiting' and attempts = 0 and body is not null and (replay_id is null or is_remade = 1))`)

  const forgetBeyond = store.prepare<[string, number, number]>(`
    update deliveries set body = null, body_bytes = null, body_sha256 = null where id in (
      select id from deliveries where endpoint_id = ? and state = 'waiting' and attempts > 0 and body is not null
      order by id desc limit ? offset ?)`)

  /** Adds a delivery and returns its id. */
  function add(delivery: NewDelivery): number {
    const { lastInsertRowid } = insert.run({ ...delivery, ...frozen(delivery.body) })
    if (delivery.replay_id !== null) losses.follow(delivery)
    return Number(lastInsertRowid)
  }

  const get = (id: number): Delivery | null => selectById.get(id) ?? null

  /** The bytes of the body; null if they are not made yet or no longer stored. */
  const body = (id: number): Buffer | null => inflated(selectBody.get(id))

  /** The bytes that an endpoint got for an event before; null if they are no longer stored. */
  const keptBody = (endpoint_id: string, event_id: string): Buffer | null =>
    inflated(selectKept.get(endpoint_id, event_id))

  const setBody = (id: number, bytes: Buffer): void => void updateBody.run({ id, ...frozen(bytes) })
  const clearBody = (id: number): void => void updateBody.run({ id, ...frozen(null) })
  /** Removes the bodies of deliveries that wait and were never tried. */
  const clearUntried = (): void => void updateUntried.run()
  /** Removes bodies of refused deliveries of an endpoint that wait, up to 64, except those of the newest 1,000. */
  const clearRefused = (endpoint_id: string): void => void forgetBeyond.run(endpoint_id, CLEARED, MAX_REFUSED)

  return { add, get, body, keptBody, setBody, clearBody, clearUntried, clearRefused }
}

/** The order of the deliveries of one key, on ordered endpoints. */
function openKeys(store: Pick<Store, 'prepare'>) {
  const selectNext = store.prepare<[string, string], { id: number; next_at: number | null }>(`
    select id, next_at from deliveries where endpoint_id = ? and key = ? and state = 'waiting'
    order by replay_id is not null, next_at is null, id limit 1`)
  const selectLive = store.prepare<[string, string], object>(`
    select 1 from deliveries where endpoint_id = ? and key = ? and state = 'waiting' and replay_id is null limit 1`)
  const selectLast = store.prepare<[string, string, number], { state: string }>(`
    select state from deliveries where endpoint_id = ? and key = ? and id < ? and state in ('delivered', 'failed')
    order by id desc limit 1`)
  const release = store.prepare<[number, number]>('update deliveries set next_at = ? where id = ?')

  /** Whether a delivery of the key waits that goes first: a live one, or before a replayed one any. */
  const isKeyWaiting = (endpoint_id: string, key: string, isReplay: boolean): boolean =>
    (isReplay ? selectNext : selectLive).get(endpoint_id, key) !== undefined

  /** Whether the last delivery of the key before `id` that was not dropped or skipped was given up. */
  const wasPreviousLost = (endpoint_id: string, key: string, id: number): boolean =>
    selectLast.get(endpoint_id, key, id)?.state === 'failed'

  /** Makes the next delivery of a key due: the oldest that waits, live ones before those of replays. */
  function releaseNext(endpoint_id: string, key: string | null, now: number): void {
    const next = key === null ? undefined : selectNext.get(endpoint_id, key)
    if (next && next.next_at === null) release.run(now, next.id)
  }

  /** The id of the delivery that goes first among those of the key; null if none waits. */
  const firstOfKey = ({ endpoint_id, key }: Pick<Delivery, 'endpoint_id' | 'key'>): number | null =>
    (key === null ? null : selectNext.get(endpoint_id, key)?.id) ?? null

  return { isKeyWaiting, wasPreviousLost, releaseNext, firstOfKey }
}

type ReleaseNext = ReturnType<typeof openKeys>['releaseNext']

const BECAME_ORDERED = 'Its endpoint became ordered, so it is sent again after the events before it.'

/** Stores results: the next attempt, or the end of deliveries. */
function openResults(store: Pick<Store, 'prepare'>, releaseNext: ReleaseNext, losses: Losses) {
  const updateWaiting = store.prepare<Pick<Delivery, 'id' | 'failures' | 'next_at'>>(
    'update deliveries set attempts = attempts + 1, failures = :failures, next_at = :next_at where id = :id',
  )
  const updateFinished = store.prepare<
    Pick<Delivery, 'id' | 'state' | 'reason' | 'attempts' | 'failures' | 'finished_at'>
  >(`
    update deliveries set state = :state, reason = :reason, attempts = :attempts, failures = :failures, next_at = null,
      finished_at = :finished_at where id = :id`)
  const finishWaiting = store.prepare<{ endpoint_id: string; state: string; reason: string; now: number }>(`
    update deliveries set state = :state, reason = :reason, next_at = null, finished_at = :now
    where endpoint_id = :endpoint_id and state = 'waiting'`)
  const skipWaitingBeyond = store.prepare<{
    endpoint_id: string
    cursor: number
    reason: string
    now: number
  }>(`
    update deliveries set state = 'skipped', reason = :reason, next_at = null, finished_at = :now
    where endpoint_id = :endpoint_id and state = 'waiting' and replay_id is null and seq > :cursor`)
  const selectOfReplay = store.prepare<[string], Delivery>(
    `select ${FIELDS} from deliveries where replay_id = ? and state = 'waiting'`,
  )
  /** Counts an attempt that was not the last. `next_at` is null while the delivery waits behind another of its key. */
  const postpone = (id: number, failures: number, next_at: number | null): void =>
    void updateWaiting.run({ id, failures, next_at })

  /** Finishes a delivery, with the counts that it has, and makes the next of its key due. */
  function finish(delivery: Delivery, state: DeliveryState, reason: string | null, now: number): void {
    const { id, endpoint_id, key, attempts, failures } = delivery
    updateFinished.run({ id, state, reason, attempts, failures, finished_at: now })
    if (delivery.replay_id !== null) losses.follow(delivery)
    releaseNext(endpoint_id, key, now)
  }

  /** Gives a delivery up: it is a loss. */
  function giveUp(delivery: Delivery, reason: string, now: number): void {
    finish(delivery, 'failed', reason, now)
    losses.lose(delivery, reason, now)
  }

  /** Finishes all waiting deliveries of an endpoint and returns how many. */
  function finishAll(endpoint_id: string, state: 'dropped' | 'skipped', reason: string, now: number): number {
    const { changes } = finishWaiting.run({ endpoint_id, state, reason, now })
    losses.unqueueAll(endpoint_id)
    return changes
  }

  /** Skips what waits beyond the cursor of an endpoint that becomes ordered. The cursor makes it again, in order. */
  const skipBeyond = (endpoint_id: string, cursor: number, now: number): void =>
    void skipWaitingBeyond.run({ endpoint_id, cursor, reason: BECAME_ORDERED, now })

  /** Skips the waiting deliveries of a replay. */
  function skipReplay(replay_id: string, reason: string, now: number): void {
    for (const delivery of selectOfReplay.all(replay_id)) finish(delivery, 'skipped', reason, now)
  }

  return { postpone, finish, giveUp, finishAll, skipBeyond, skipReplay }
}

/** Stores attempts. */
function openAttemptLog(store: Pick<Store, 'prepare'>) {
  const insertAttempt = store.prepare<object>(`
    insert into delivery_attempts (delivery_id, number, endpoint_id, at, ms, kind, status, words, address, excerpt,
      clock_ms, is_probe)
    values (:delivery_id, :number, :endpoint_id, :at, :ms, :kind, :status, :words, :address, :excerpt, :clock_ms,
      :is_probe)`)

  /** Stores an attempt. It does not change the delivery. */
  function addAttempt(delivery: Delivery, outcome: Outcome, { at, is_probe }: AttemptTime): void {
    const { ms, kind, status, words, address, excerpt, clock_ms } = outcome
    const result = { ms, kind, status, words, address, excerpt, clock_ms }
    const { id: delivery_id, endpoint_id } = delivery
    const number = delivery.attempts + 1
    insertAttempt.run({ delivery_id, number, endpoint_id, at, ...result, is_probe: is_probe ? 1 : 0 })
  }

  return { addAttempt }
}

/** When an attempt began, in milliseconds, and whether it was a probe of a failing endpoint. */
export type AttemptTime = { at: number; is_probe: boolean }

function frozen(bytes: Buffer | null): Frozen {
  if (bytes === null) return { body: null, body_bytes: null, body_sha256: null }
  return { body: deflate(bytes), body_bytes: bytes.length, body_sha256: hash('sha256', bytes, 'buffer') }
}

/**
 * Bodies are made while events flow and stored for seven days, so the level is the smallest. zlib’s defaults are for
 * large data: a window of 32 KiB, which it clears for each body, and results in buffers of 16 KiB.
 */
const DEFLATE_OPTIONS = { level: 1, windowBits: 12, memLevel: 5 }
const SMALLEST_CHUNK = 64

const deflate = (bytes: Buffer): Buffer =>
  deflateRawSync(bytes, { ...DEFLATE_OPTIONS, chunkSize: bytes.length + SMALLEST_CHUNK })

function inflated({ body, body_bytes }: Stored = { body: null, body_bytes: null }): Buffer | null {
  return body && inflateRawSync(body, { chunkSize: (body_bytes ?? 0) + SMALLEST_CHUNK })
}
