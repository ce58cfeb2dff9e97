/**
 * Deletes inactive users that no proved call ever named. Any caller that knows a bundle id can create such users, so
 * the owner needs a way to delete many of them.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'

const DAY_MS = 86_400_000
/** Users examined per slice; a slice is one unit of work, and other work runs between slices. */
const SLICE = 500
/** A daily count finds the prunable users that were unseen for this many days. It stops at the maximum. */
const COUNTED_UNSEEN_DAYS = 30
const MAX_COUNTED = 50_000
/** A little less than a day, because jobs start with random jitter. */
const DAILY_MS = DAY_MS - 3_600_000

type Slice = { after: number; until: number; before: number }
type Candidate = { id: number; app_id: string; app_user_id: string }
/** `onFirstPruned` is called within the first unit of work that prunes a user. */
type PruneRequest = { unseen_days: number; onFirstPruned: () => void }

/** Progress of the pass over all users. */
export type PruneProgress = { done: number; of: number }

type Deps = {
  store: Store
  clock: Clock
  log: Log
  /** Whether a user id was ever erased, according to the tombstones. */
  isErased: (app_id: string, app_user_id: string) => boolean
}

export type Pruning = ReturnType<typeof openPruning>

export function openPruning({ store, clock, log, isErased }: Deps) {
  // `link_history` names each proved user from whom a link was moved. Such a user is not prunable.
  const unseen = store.prepare<Slice, Candidate>(`
    select users.id, app_id, app_user_id from users
    where users.id > :after and users.id <= :until and seen_at < :before and proved_at is null
      and not exists (select 1 from links where links.app_id = users.app_id and links.app_user_id = users.app_user_id)
      and not exists (select 1 from link_history join links on links.id = link_id
        where from_app_user_id = users.app_user_id and from_proved_app_user_id = users.app_user_id
          and links.app_id = users.app_id)`)
  const last = store.prepare<[], { id: number | null }>('select max(id) as id from users')
  const drop = store.prepare<[number]>('delete from users where id = ?')
  const closing = new AbortController()
  let progress: PruneProgress | null = null
  let last_daily_at = Number.NEGATIVE_INFINITY
  let lastCount: number | null = null

  /** All users that can be pruned, in slices; other work runs in between. */
  async function* slices(unseen_days: number): AsyncGenerator<{ slice: Slice; found: number }> {
    const before = clock() - unseen_days * DAY_MS
    const end = last.get()?.id ?? 0
    try {
      for (let after = 0; after < end; after += SLICE) {
        closing.signal.throwIfAborted()
        const slice = { after, until: Math.min(after + SLICE, end), before }
        yield { slice, found: candidates(slice).length }
        progress = { done: slice.until, of: end }
        await setImmediate()
      }
    } finally {
      progress = null
    }
  }

  const candidates = (slice: Slice): Candidate[] =>
    unseen.all(slice).filter(({ app_id, app_user_id }) => !isErased(app_id, app_user_id))

  /**
   * Counts the prunable users: those without a purchase, a proof and a tombstone that were not seen for `unseen_days`.
   * Stops at `most`.
   */
  async function count(unseen_days: number, most = Number.POSITIVE_INFINITY): Promise<number> {
    let users = 0
    for await (const { found } of slices(unseen_days)) {
      users += found
      if (users >= most) break
    }
    return Math.min(users, most)
  }

  /**
   * Deletes the prunable users with their attributes and device fields. Returns how many. Each unit of work checks
   * again: a user who called in the meantime stays. Events do not change, and a user who returns is new.
   *
   * @throws Refusal 503 `store_closing` when Windfall stops during the pass; users pruned so far stay pruned.
   */
  async function prune({ unseen_days, onFirstPruned }: PruneRequest): Promise<number> {
    let users = 0
    for await (const { slice, found } of slices(unseen_days)) {
      if (found > 0)
        users += await store.commit(() => pruneSlice(slice, users === 0 ? onFirstPruned : () => {}))
    }
    if (users === 0) return 0
    lastCount = null
    last_daily_at = Number.NEGATIVE_INFINITY
    log.info('users were pruned', { users, unseen_days })
    return users
  }

  function pruneSlice(slice: Slice, onFirstPruned: () => void): number {
    const found = candidates(slice)
    if (found.length > 0) onFirstPruned()
    for (const { id } of found) drop.run(id)
    return found.length
  }

  /** Once a day: prunes, or counts the prunable users if `unseen_days` is 0. Null if less than a day has passed. */
  async function daily({ unseen_days, onFirstPruned }: PruneRequest): Promise<number | null> {
    // A time in the future was stored while the clock was wrong.
    if (last_daily_at <= clock() && clock() - last_daily_at < DAILY_MS) return null
    const pruned = unseen_days === 0 ? null : await prune({ unseen_days, onFirstPruned })
    lastCount = await count(COUNTED_UNSEEN_DAYS, MAX_COUNTED)
    last_daily_at = clock()
    return pruned
  }

  /** Stops the running pass. */
  function close(): void {
    closing.abort(new Refusal(503, 'store_closing', 'Windfall stopped; the users pruned so far stay pruned'))
  }

  return {
    count,
    prune,
    daily,
    close,
    progress: () => progress,
    /** Whether the last daily count reached its maximum, of which the owner should know. */
    isThresholdReached: () => lastCount === MAX_COUNTED,
    /** The limits that `isThresholdReached` compares with. */
    threshold: { users: MAX_COUNTED, unseen_days: COUNTED_UNSEEN_DAYS },
  }
}
