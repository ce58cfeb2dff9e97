/** The stored deliveries and their attempts. All writing functions must run inside a unit of work. */
import { hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Store } from '../../store/store.ts'
import type { Outcome } from '../sending/outcome.ts'

/**
 * waiting: not finished. delivered: the receiver has it. failed: given up. dropped: the filter of the endpoint no longer
 * matches, or the endpoint was deleted. skipped: a person resumed the endpoint from now.
 */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'dropped' | 'skipped'

/** A delivery without its body. schema.sql documents the fields. */
export type Delivery = {
  id: number
  endpoint_id: string
  replay_id: string | null
  event_id: string
  seq: number | null
  payload_id: number | null
  type: string
  app_id: string | null
  environment: string | null
  key: string | null
  is_test: number
  is_remade: number
  state: DeliveryState
  reason: string | null
  attempts: number
  failures: number
  next_at: number | null
  body_bytes: number | null
  body_sha256: Buffer | null
  occurred_at: number
  created_at: number
  finished_at: number | null
}

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

const MINUTE_MS = 60_000

const FIELDS = `id, endpoint_id, replay_id, event_id, seq, payload_id, type, app_id, environment, key, is_test, is_remade,
  state, reason, attempts, failures, next_at, body_bytes, body_sha256, occurred_at, created_at, finished_at`

/** Opens the deliveries. */
export function openDeliveries(store: Pick<Store, 'prepare'>) {
  const keys = openKeys(store)
  return { ...openRows(store), ...openQueue(store), ...keys, ...openResults(store, keys.releaseNext) }
}

/** Adds and reads deliveries and their bodies. */
function openRows(store: Pick<Store, 'prepare'>) {
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

  /** Adds a delivery and returns its id. */
  const add = (delivery: NewDelivery): number =>
    Number(insert.run({ ...delivery, ...frozen(delivery.body) }).lastInsertRowid)

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

  return { add, get, body, keptBody, setBody, clearBody, clearUntried }
}

/** Finds the deliveries that are due. */
function openQueue(store: Pick<Store, 'prepare'>) {
  const selectDue = (which: string) =>
    store.prepare<{ endpoint_id: string; now: number; limit: number }, DueDelivery>(`
      select id, endpoint_id, app_id, key, replay_id, attempts from deliveries
      where state = 'waiting' and next_at <= :now and ${which} order by next_at, id limit :limit`)
  const selectDueNew = selectDue('endpoint_id = :endpoint_id and replay_id is null and attempts = 0')
  const selectDueTried = selectDue('endpoint_id = :endpoint_id and replay_id is null and attempts > 0')
  // By the index of replays: most endpoints have none, but many waiting deliveries.
  // A replayed delivery that is between two attempts lets live ones of its key pass.
  const selectDueReplayed = selectDue(`
    replay_id in (select id from replays where endpoint_id = :endpoint_id) and (key is null or not exists (
      select 1 from deliveries as live where live.endpoint_id = :endpoint_id and live.key = deliveries.key
        and live.state = 'waiting' and live.replay_id is null))`)
  const selectProbe = (order: string) =>
    store.prepare<[string], Delivery>(`
      select ${FIELDS} from deliveries where endpoint_id = ? and state = 'waiting' and next_at is not null
      order by ${order} limit 1`)
  const selectOldest = selectProbe('id')
  const selectUntried = selectProbe('attempts > 0, id')
  const selectNewest = store.prepare<[string, number], Delivery>(`
    select ${FIELDS} from deliveries where endpoint_id = ? and state = 'waiting' and attempts = 0 and created_at >= ?
      and next_at is not null and replay_id is null order by next_at desc, id desc limit 1`)
  const counting = (which: string) =>
    store.prepare<object, { count: number }>(`
      select count(*) as count from (
        select 1 from deliveries where endpoint_id = :endpoint_id and state = 'waiting' and ${which} limit :limit)`)
  const countUntried = counting('attempts = 0')
  const countDueSoon = counting('attempts > 0 and next_at <= :soon')
  const countWaiting = counting('true')
  const releaseAll = store.prepare<[number, string]>(
    "update deliveries set next_at = ? where endpoint_id = ? and state = 'waiting' and next_at is not null",
  )
  const selectLater = store.prepare<[number], object>(`
    select 1 from endpoints cross join deliveries on endpoint_id = endpoints.id
    where deliveries.state = 'waiting' and next_at > ? limit 1`)
  const pullBack = store.prepare<{ now: number; latest: number }>(
    "update deliveries set next_at = :now where state = 'waiting' and next_at > :latest",
  )

  /** Up to `limit` deliveries of an endpoint that are due: those never tried first, each in the order of their time. */
  function due(endpoint_id: string, now: number, { limit, isReplay }: DueQuery): DueDelivery[] {
    if (isReplay) return selectDueReplayed.all({ endpoint_id, now, limit })
    const untried = selectDueNew.all({ endpoint_id, now, limit })
    if (untried.length === limit) return untried
    return [...untried, ...selectDueTried.all({ endpoint_id, now, limit: limit - untried.length })]
  }

  /** The newest delivery that was made at `since` or later, is due and was never tried; null if there is none. */
  const newestUntried = (endpoint_id: string, since: number): Delivery | null =>
    selectNewest.get(endpoint_id, since) ?? null

  /** The delivery for a probe: the oldest that waits, or one that was not tried yet; null if none waits. */
  const forProbe = (endpoint_id: string, isUntried: boolean): Delivery | null =>
    (isUntried ? selectUntried : selectOldest).get(endpoint_id) ?? null

  /**
   * How many deliveries of an endpoint are about to be tried, at most `limit`: those never tried, and those due within a
   * minute. The latter count for at most half of it, so that refused ones never keep new ones from being made.
   */
  function pending(endpoint_id: string, now: number, limit: number): number {
    const untried = countUntried.get({ endpoint_id, limit })?.count ?? 0
    const soon = countDueSoon.get({ endpoint_id, soon: now + MINUTE_MS, limit: limit >> 1 })?.count ?? 0
    return Math.min(untried + soon, limit)
  }

  /** Whether at least `limit` deliveries of an endpoint wait. */
  const isFull = (endpoint_id: string, limit: number): boolean =>
    (countWaiting.get({ endpoint_id, limit })?.count ?? 0) >= limit

  /** Makes all waiting deliveries of an endpoint due, except those behind another of their key. */
  const makeDue = (endpoint_id: string, now: number): void => void releaseAll.run(now, endpoint_id)

  /** Whether the next attempt of a delivery is later than `latest`. */
  const isAnyLater = (latest: number): boolean => selectLater.get(latest) !== undefined

  /** Makes deliveries due whose next attempt is later than `latest`. */
  const pullBackLater = (now: number, latest: number): void => void pullBack.run({ now, latest })

  return { due, newestUntried, forProbe, pending, isFull, makeDue, isAnyLater, pullBackLater }
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

  return { isKeyWaiting, wasPreviousLost, releaseNext }
}

type ReleaseNext = ReturnType<typeof openKeys>['releaseNext']

/** Stores attempts and the end of deliveries. */
function openResults(store: Pick<Store, 'prepare'>, releaseNext: ReleaseNext) {
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
  const selectOfReplay = store.prepare<[string], Delivery>(
    `select ${FIELDS} from deliveries where replay_id = ? and state = 'waiting'`,
  )
  const insertAttempt = store.prepare<object>(`
    insert into delivery_attempts (delivery_id, number, endpoint_id, at, ms, kind, status, words, address, excerpt,
      clock_ms, is_probe)
    values (:delivery_id, :number, :endpoint_id, :at, :ms, :kind, :status, :words, :address, :excerpt, :clock_ms,
      :is_probe)`)

  /** Counts an attempt that was not the last. `next_at` is null while the delivery waits behind another of its key. */
  const postpone = (id: number, failures: number, next_at: number | null): void =>
    void updateWaiting.run({ id, failures, next_at })

  /** Finishes a delivery, with the counts that it has, and makes the next of its key due. */
  function finish(delivery: Delivery, state: DeliveryState, reason: string | null, now: number): void {
    const { id, endpoint_id, key, attempts, failures } = delivery
    updateFinished.run({ id, state, reason, attempts, failures, finished_at: now })
    releaseNext(endpoint_id, key, now)
  }

  /** Finishes all waiting deliveries of an endpoint and returns how many. */
  const finishAll = (
    endpoint_id: string,
    state: 'dropped' | 'skipped',
    reason: string,
    now: number,
  ): number => finishWaiting.run({ endpoint_id, state, reason, now }).changes

  /** Skips the waiting deliveries of a replay. */
  function skipReplay(replay_id: string, reason: string, now: number): void {
    for (const delivery of selectOfReplay.all(replay_id)) finish(delivery, 'skipped', reason, now)
  }

  /** Stores an attempt. It does not change the delivery. */
  function addAttempt(delivery: Delivery, outcome: Outcome, { at, is_probe }: AttemptTime): void {
    const { ms, kind, status, words, address, excerpt, clock_ms } = outcome
    const result = { ms, kind, status, words, address, excerpt, clock_ms }
    const { id: delivery_id, endpoint_id } = delivery
    const number = delivery.attempts + 1
    insertAttempt.run({ delivery_id, number, endpoint_id, at, ...result, is_probe: is_probe ? 1 : 0 })
  }

  return { postpone, finish, finishAll, skipReplay, addAttempt }
}

/** What is needed to begin a delivery. */
export type DueDelivery = Pick<Delivery, 'id' | 'endpoint_id' | 'app_id' | 'key' | 'replay_id' | 'attempts'>

/** `isReplay`: deliveries of replays, otherwise all others. */
type DueQuery = { limit: number; isReplay: boolean }

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
