/**
 * Deletes users that were only ever claimed and have not been seen for long. Anyone who knows a bundle id can create such
 * users, so there must be a way to delete many.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'

const DAY_MS = 86_400_000
/** Users looked at before others get their turn, and pruned in one unit of work. */
const SLICE = 500
/** Counted every day for the status, where nothing prunes them: how long unseen, and up to how many. */
const COUNTED_DAYS = 30
const COUNT_MAX = 50_000
/** A little less than a day, because jobs are moved by chance. */
const DAILY_MS = DAY_MS - 3_600_000

type Slice = { after: number; until: number; before: number }
type Candidate = { id: number; app_id: string; app_user_id: string }
/** `note` is called within the first unit of work that prunes a user. */
type PruneRequest = { unseen_days: number; onFirstPruned: () => void }

/** How far the walk over all users is. */
export type PruneProgress = { done: number; of: number }

type Deps = {
  store: Store
  clock: Clock
  log: Log
  /** Whether a user id was ever forgotten, so that its tombstone says so. */
  isErased: (app_id: string, app_user_id: string) => boolean
}

export type Pruning = ReturnType<typeof openPruning>

export function openPruning({ store, clock, log, isErased }: Deps) {
  // A user who was proved to hold a link and lost it is in the history of that link, with the proof.
  const unseen = store.prepare<Slice, Candidate>(`
    select users.rowid as id, app_id, app_user_id from users
    where users.rowid > :after and users.rowid <= :until and seen_at < :before and proved_at is null
      and not exists (select 1 from links where links.app_id = users.app_id and links.app_user_id = users.app_user_id)
      and not exists (select 1 from link_history join links on links.id = link_id
        where from_app_user_id = users.app_user_id and from_proved_app_user_id = users.app_user_id
          and links.app_id = users.app_id)`)
  const last = store.prepare<[], { id: number | null }>('select max(rowid) as id from users')
  const drop = store.prepare<[number]>('delete from users where rowid = ?')
  const closing = new AbortController()
  let progress: PruneProgress | null = null
  let done_at = Number.NEGATIVE_INFINITY
  let counted: number | null = null

  /** Every user who may go, found in slices; others get their turn in between. */
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
   * How many users were only ever claimed, have no purchase, no proof and no tombstone, and were not seen for
   * `unseen_days`; counted up to `most`.
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
   * Drops these users, attributes and device fields with them; how many. Each unit of work looks again: who called
   * meanwhile stays. Events stay as they are, and a user who comes back is new.
   *
   * @throws Refusal 503 `store_closing` when Windfall stops on the way; what is done stays done.
   */
  async function prune({ unseen_days, onFirstPruned }: PruneRequest): Promise<number> {
    let users = 0
    for await (const { slice, found } of slices(unseen_days)) {
      if (found > 0)
        users += await store.commit(() => pruneSlice(slice, users === 0 ? onFirstPruned : () => {}))
    }
    if (users === 0) return 0
    counted = null
    done_at = Number.NEGATIVE_INFINITY
    log.info('users were pruned', { users, unseen_days })
    return users
  }

  function pruneSlice(slice: Slice, onFirstPruned: () => void): number {
    const found = candidates(slice)
    if (found.length > 0) onFirstPruned()
    for (const { id } of found) drop.run(id)
    return found.length
  }

  /** Once a day: prunes, or where `unseen_days` is 0 counts whom it would be worth to prune. Null when it is not time. */
  async function daily({ unseen_days, onFirstPruned }: PruneRequest): Promise<number | null> {
    // A time in the future was noted while the clock was wrong.
    if (done_at <= clock() && clock() - done_at < DAILY_MS) return null
    const pruned = unseen_days === 0 ? null : await prune({ unseen_days, onFirstPruned })
    counted = await count(COUNTED_DAYS, COUNT_MAX)
    done_at = clock()
    return pruned
  }

  /** Stops what is under way. */
  function close(): void {
    closing.abort(new Refusal(503, 'store_closing', 'Windfall stopped; the users pruned so far stay pruned'))
  }

  return {
    count,
    prune,
    daily,
    close,
    progress: () => progress,
    /** Whether there are so many of them that the owner should know, as last counted. */
    isThresholdReached: () => counted === COUNT_MAX,
    /** What `isWorthIt` is about. */
    threshold: { users: COUNT_MAX, unseen_days: COUNTED_DAYS },
  }
}
