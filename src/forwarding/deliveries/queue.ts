/** Finds the deliveries that are due, and changes when they are. All writing functions must run inside a unit of work. */
import type { Store } from '../../store/store.ts'
import { type Delivery, FIELDS } from './delivery.ts'

const MINUTE_MS = 60_000

/** What is needed to begin a delivery. */
export type DueDelivery = Pick<Delivery, 'id' | 'endpoint_id' | 'app_id' | 'key' | 'replay_id'>

/** `replayed`: of replays. `new`: of no replay, and not tried yet. `tried`: of no replay, and tried before. */
export type DueKind = 'new' | 'tried' | 'replayed'

/** Opens the queue. */
export const openQueue = (store: Pick<Store, 'prepare'>) => ({ ...openChoice(store), ...openWindow(store) })

/** Chooses the deliveries to try. */
function openChoice(store: Pick<Store, 'prepare'>) {
  const selectDue = (which: string) =>
    store.prepare<{ endpoint_id: string; now: number; limit: number }, DueDelivery>(`
      select id, endpoint_id, app_id, key, replay_id from deliveries
      where state = 'waiting' and next_at <= :now and ${which} order by next_at, id limit :limit`)
  const selects: Record<DueKind, ReturnType<typeof selectDue>> = {
    new: selectDue('endpoint_id = :endpoint_id and replay_id is null and attempts = 0'),
    tried: selectDue('endpoint_id = :endpoint_id and replay_id is null and attempts > 0'),
    // By the index of replays: most endpoints have none, but many waiting deliveries.
    // A replayed delivery that is between two attempts lets live ones of its key pass.
    replayed: selectDue(`
      replay_id in (select id from replays where endpoint_id = :endpoint_id) and (key is null or not exists (
        select 1 from deliveries as live where live.endpoint_id = :endpoint_id and live.key = deliveries.key
          and live.state = 'waiting' and live.replay_id is null))`),
  }
  const selectProbe = (order: string) =>
    store.prepare<[string], Delivery>(`
      select ${FIELDS} from deliveries where endpoint_id = ? and state = 'waiting' and next_at is not null
      order by ${order} limit 1`)
  const selectOldest = selectProbe('id')
  const selectUntried = selectProbe('attempts > 0, id')
  const selectNewest = store.prepare<[string, number], Delivery>(`
    select ${FIELDS} from deliveries where endpoint_id = ? and state = 'waiting' and attempts = 0 and created_at >= ?
      and next_at is not null and replay_id is null order by next_at desc, id desc limit 1`)

  /** Up to `limit` deliveries of an endpoint that are due, in the order of their time. */
  const due = (endpoint_id: string, now: number, { limit, kind }: { limit: number; kind: DueKind }) =>
    selects[kind].all({ endpoint_id, now, limit })

  /** The newest delivery that was made at `since` or later, is due and was never tried; null if there is none. */
  const newestUntried = (endpoint_id: string, since: number): Delivery | null =>
    selectNewest.get(endpoint_id, since) ?? null

  /** The delivery for a probe: the oldest that waits, or one that was not tried yet; null if none waits. */
  const forProbe = (endpoint_id: string, isUntried: boolean): Delivery | null =>
    (isUntried ? selectUntried : selectOldest).get(endpoint_id) ?? null

  return { due, newestUntried, forProbe }
}

/** Counts what waits, and changes when it is due. */
function openWindow(store: Pick<Store, 'prepare'>) {
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
  // If the attempt fails, the next one follows after the same delay as after the failure before.
  const retrying = (which: string) =>
    store.prepare<{ id: string | number; now: number }>(`
      update deliveries set failures = max(failures - 1, 0), next_at = :now
      where state = 'waiting' and next_at > :now and ${which}`)
  const retryOne = retrying('id = :id')
  const retryOfEndpoint = retrying('endpoint_id = :id')
  const selectLater = store.prepare<[number], object>(`
    select 1 from endpoints cross join deliveries on endpoint_id = endpoints.id
    where deliveries.state = 'waiting' and next_at > ? limit 1`)
  const pullBack = store.prepare<{ now: number; latest: number }>(
    "update deliveries set next_at = :now where state = 'waiting' and next_at > :latest",
  )

  /**
   * How many deliveries of an endpoint are about to be tried, at most `limit`: those never tried, and those due within a
   * minute. The latter count for at most half of it, so that refused ones never keep new ones from being made.
   */
  function pending(endpoint_id: string, now: number, limit: number): number {
    const untried = countUntried.get({ endpoint_id, limit })?.count ?? 0
    const soon = countDueSoon.get({ endpoint_id, soon: now + MINUTE_MS, limit: limit >> 1 })?.count ?? 0
    return Math.min(untried + soon, limit)
  }

  /** How many deliveries of an endpoint wait, at most `limit`. */
  const waiting = (endpoint_id: string, limit: number): number =>
    countWaiting.get({ endpoint_id, limit })?.count ?? 0

  /** Makes all waiting deliveries of an endpoint due, except those behind another of their key. */
  const makeDue = (endpoint_id: string, now: number): void => void releaseAll.run(now, endpoint_id)

  /** Makes a delivery due that waits for a later attempt. The attempt uses up no schedule. */
  const retry = (id: number, now: number): void => void retryOne.run({ id, now })

  /** Makes all deliveries of an endpoint due that wait for a later attempt. These attempts use up no schedule. */
  const retryAll = (endpoint_id: string, now: number): void =>
    void retryOfEndpoint.run({ id: endpoint_id, now })

  /** Whether the next attempt of a delivery is later than `latest`. */
  const isAnyLater = (latest: number): boolean => selectLater.get(latest) !== undefined

  /** Makes deliveries due whose next attempt is later than `latest`. */
  const pullBackLater = (now: number, latest: number): void => void pullBack.run({ now, latest })

  return { pending, waiting, makeDue, retry, retryAll, isAnyLater, pullBackLater }
}
