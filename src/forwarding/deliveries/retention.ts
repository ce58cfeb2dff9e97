/** Deletes what is no longer kept: bodies seven days after success, finished deliveries after 90 days or above a limit. */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'

const DAY_MS = 86_400_000
const KEEP_BODY_MS = 7 * DAY_MS
const KEEP_MS = 90 * DAY_MS
const MEGABYTE = 1_048_576
/** The number of deliveries that one unit of work changes. */
const SLICE = 200
/** The estimated space of a delivery beside its body, and of an attempt beside its texts. */
const DELIVERY_BYTES = 400
const ATTEMPT_BYTES = 200

type Sized = { id: number; bytes: number }
type Deps = { store: Store; clock: Clock; isInFlight: (id: number) => boolean }

const bytesOfAttempts = `(select ifnull(sum(${ATTEMPT_BYTES} + length(words) + ifnull(length(excerpt), 0)), 0)
  from delivery_attempts where delivery_id = deliveries.id)`
const bytesOf = `${DELIVERY_BYTES} + ifnull(length(body), 0) + ${bytesOfAttempts}`

/** A delivery beyond the cursor of its endpoint stays until the cursor comes there: otherwise its event would be sent again. */
const IS_BEYOND = `exists (select 1 from endpoints where endpoints.id = endpoint_id and deleted_at is null
  and replay_id is null and case kind when 'apple' then payload_id else seq end > cursor)`

/** Opens the retention. */
export function openRetention(deps: Deps) {
  const { store, clock } = deps
  const { deleteOldest, dropBodies } = openDeletion(deps)
  const totalBytes = openSizes(store)
  const deleteReplays = store.prepare<[number]>(`
    delete from replays where finished_at < ? and not exists (select 1 from deliveries where replay_id = replays.id)`)

  /** Deletes what is too old, or too much for `keep_mb` megabytes. Resolves to the number of deleted deliveries. */
  async function expire(keep_mb: number): Promise<number> {
    const now = clock()
    await dropBodies(now - KEEP_BODY_MS)
    const old = await deleteOldest(now - KEEP_MS, () => false)
    const excess = (await totalBytes()) - keep_mb * MEGABYTE
    const above = await deleteOldest(Number.MAX_SAFE_INTEGER, (freed) => freed >= excess)
    await store.commit(() => void deleteReplays.run(now - KEEP_MS))
    return old + above
  }

  return { expire }
}

/** Returns a function that sums the space of all deliveries, in slices. */
function openSizes(store: Store): () => Promise<number> {
  const selectPage = store.prepare<[number, number], Sized>(
    `select id, ${bytesOf} as bytes from deliveries where id > ? order by id limit ?`,
  )
  return async () => {
    let total = 0
    for (let after = 0; ; ) {
      const rows = selectPage.all(after, SLICE)
      const last = rows.at(-1)
      if (!last) return total
      total += rows.reduce((sum, { bytes }) => sum + bytes, 0)
      after = last.id
      await yieldToEventLoop()
    }
  }
}

function openDeletion({ store, isInFlight }: Deps) {
  const selectBodies = store.prepare<[number, number], { id: number }>(`
    select id from deliveries where finished_at < ? and state = 'delivered' and body is not null
    order by finished_at limit ?`)
  const dropBody = store.prepare<[number]>('update deliveries set body = null where id = ?')
  const selectOldest = store.prepare<[number, number], Sized>(`
    select id, ${bytesOf} as bytes from deliveries where finished_at < ? and not ${IS_BEYOND}
    order by finished_at, id limit ?`)
  const deleteAttempts = store.prepare<[number]>('delete from delivery_attempts where delivery_id = ?')
  const deleteDelivery = store.prepare<[number]>('delete from deliveries where id = ?')

  /** Deletes the oldest finished deliveries before `before` until `isEnough`. Resolves to how many. */
  async function deleteOldest(before: number, isEnough: (freed: number) => boolean): Promise<number> {
    let [freed, count] = [0, 0]
    for (;;) {
      const rows = isEnough(freed) ? [] : selectOldest.all(before, SLICE).filter(({ id }) => !isInFlight(id))
      if (rows.length === 0) return count
      await store.commit(() => {
        for (const { id, bytes } of rows) {
          if (isEnough(freed)) return
          deleteAttempts.run(id)
          deleteDelivery.run(id)
          freed += bytes
          count += 1
        }
      })
    }
  }

  async function dropBodies(before: number): Promise<void> {
    for (;;) {
      const rows = selectBodies.all(before, SLICE)
      if (rows.length === 0) return
      await store.commit(() => {
        for (const { id } of rows) dropBody.run(id)
      })
    }
  }

  return { deleteOldest, dropBodies }
}
