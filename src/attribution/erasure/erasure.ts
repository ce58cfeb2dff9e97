/**
 * Erases users, slice by slice, in the background. All data about the user is deleted. The facts that Apple reported
 * about the user's purchases stay, without a link to the user.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import type { Live } from '../../events/live.ts'
import { scrubEvent } from '../../events/scrubbed.ts'
import { openScrubbing } from '../../events/scrubbing.ts'
import { openHook } from '../../hooks.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { openCompaction } from './compaction.ts'
import { type Erasure, type ErasureRecord, openErasureRecords, toErasureRecord } from './erasure_records.ts'
import { openErasureRun } from './erasure_run.ts'
import { openLinkErasure } from './link_erasure.ts'
import { openLogErasure } from './log_erasure.ts'
import { type ErasedUser, openPendingTargets, scrubTargetOf } from './scrub_targets.ts'
import { openStatisticsSamples } from './statistics_samples.ts'
import { openTombstones } from './tombstones.ts'

/**
 * Scrubs a table that copies data of events, in slices from row 0 to `end()`. `findRows` finds rows that name the user
 * after `after` and up to `until`; it does not write. `apply` removes the user from these rows, inside a unit of work.
 * Both may run again after a crash.
 */
type Scrubber = {
  step: string
  end: () => number
  findRows: (
    user: ErasedUser,
    after: number,
    until: number,
  ) => { reached: number; changed: number; apply: () => void }
}

/** Progress of the running step, in events or rows. */
export type ErasureProgress = { done: number; of: number }

type Deps = {
  store: Store
  clock: Clock
  feed: Feed
  live: Live
  log: Log
  wait: (ms: number) => Promise<void>
}
/** `even_unknown`: also erase a user without data, so that later calls for the user are refused. */
type ErasureRequest = { app_id: string; app_user_id: string; asked_by: string; even_unknown?: boolean }

/** A step's position is saved after this many slices without a change. */
const CHECKPOINT_EVERY = 40

export type Erasures = ReturnType<typeof openErasures>

/** Opens the erasures. Call `resume` to continue those that a stop interrupted. */
export function openErasures({ store, clock, feed, live, log, wait }: Deps) {
  const records = openErasureRecords(store)
  const tombstones = openTombstones(store, clock)
  const links = openLinkErasure(store)
  const samples = openStatisticsSamples(store)
  const findUser = store.prepare<[string, string], object>(
    'select 1 from users where app_id = ? and app_user_id = ?',
  )
  const dropUser = store.prepare<[string, string]>('delete from users where app_id = ? and app_user_id = ?')
  const rewriteFile = openCompaction({ store, wait })
  const scrubbing = openScrubbing(store)
  const scrubbers: Scrubber[] = [
    {
      step: 'events',
      end: feed.head,
      findRows: (user, after, until) => scrubbing.scan(scrubTargetOf(user), after, until),
    },
  ]
  const erased = openHook<[user: ErasedUser]>()
  const closing = new AbortController()
  const { signal } = closing
  const logErasure = openLogErasure({ store, clock, log, records })
  const runs = openErasureRun({ records, logErasure, scrub: scrubUser, signal, log, wait })
  let progress: ErasureProgress | null = null

  /**
   * Erases a user, inside the caller's unit of work: from then on all calls for the user are refused and the user's row
   * and first links are gone. The rest is scrubbed afterwards, in the background. Idempotent.
   * @throws Refusal 404 `unknown_user`.
   */
  function erase({ app_id, app_user_id, asked_by, even_unknown = false }: ErasureRequest): ErasureRecord {
    const activeErasureId = tombstones.activeErasure(app_id, app_user_id)
    const known = activeErasureId === null ? null : records.get(activeErasureId)
    if (known) return toErasureRecord(known)
    const isKnown = findUser.get(app_id, app_user_id) !== undefined || links.hasLinks(app_id, app_user_id)
    if (!isKnown && !even_unknown)
      throw new Refusal(404, 'unknown_user', 'this app has no data about this user')
    const erasure_id = records.begin(app_id, app_user_id, asked_by, clock())
    tombstones.set(app_id, app_user_id, erasure_id)
    dropUser.run(app_id, app_user_id)
    const user = { app_id, app_user_id, erasure_id }
    erased.call(user)
    records.countLinks(erasure_id, links.scrubSome(app_id, app_user_id))
    store.afterCommit(() => {
      live.change((event) => scrubEvent(event, scrubTargetOf(user)))
      runs.resume()
    })
    return toErasureRecord(requireErasure(erasure_id))
  }

  function requireErasure(erasure_id: string): Erasure {
    const erasure = records.get(erasure_id)
    if (!erasure) throw new Error(`there is no erasure ${erasure_id}`)
    return erasure
  }

  /**
   * Accepts calls for an erased user again, inside the caller's unit of work. Erased data does not come back.
   *
   * @throws Refusal 404 `not_forgotten`, 409 `erasure_running` while rows still name the user.
   */
  function lift(app_id: string, app_user_id: string): ErasureRecord {
    const activeErasureId = tombstones.activeErasure(app_id, app_user_id)
    if (activeErasureId === null) throw new Refusal(404, 'not_forgotten', 'this user is not erased')
    const erasure = requireErasure(activeErasureId)
    if (erasure.app_user_id !== null)
      throw new Refusal(409, 'erasure_running', 'this user is still being erased; try again later')
    tombstones.lift(app_id, app_user_id)
    return toErasureRecord(erasure)
  }

  /**
   * Resolves once an erasure is done, or once only the write-ahead log still has data of the user and a reader keeps it
   * in use. Rejects with the error that interrupted the erasure; it is retried later.
   */
  async function finished(erasure_id: string): Promise<ErasureRecord> {
    do await runs.run()
    while (requireErasure(erasure_id).app_user_id !== null)
    return toErasureRecord(requireErasure(erasure_id))
  }

  async function scrubUser(erasure: Erasure): Promise<void> {
    const { id, app_id, app_user_id } = erasure
    if (app_user_id === null) return
    try {
      await scrub(erasure, { app_id, app_user_id, erasure_id: id })
      logErasure.noteScrubbed(id)
    } finally {
      progress = null
    }
  }

  async function scrub(erasure: Erasure, user: ErasedUser): Promise<void> {
    if (erasure.step === null) await scrubLinks(user)
    const firstIndex = scrubbers.findIndex(({ step }) => step === erasure.step)
    for (const [index, scrubber] of scrubbers.entries()) {
      if (index < firstIndex) continue
      const { reached, until } = index === firstIndex ? erasure : await enterStep(user, scrubber)
      await scrubRange(user, scrubber, reached, until)
    }
    await store.commit(() => {
      samples.drop(user.app_user_id)
      records.anonymize(user.erasure_id)
    })
  }

  async function scrubLinks({ app_id, app_user_id, erasure_id }: ErasedUser): Promise<void> {
    for (let more = true; more; ) {
      signal.throwIfAborted()
      more = await store.commit(() => {
        const scrubbed = links.scrubSome(app_id, app_user_id)
        records.countLinks(erasure_id, scrubbed)
        return scrubbed > 0
      })
      await setImmediate()
    }
  }

  /** Begins a step, up to the last existing row. Later rows cannot name the user, because no link does any more. */
  function enterStep({ erasure_id }: ErasedUser, { step, end }: Scrubber) {
    return store.commit(() => {
      const until = end()
      records.enterStep(erasure_id, step, until)
      return { reached: 0, until }
    })
  }

  async function scrubRange(
    user: ErasedUser,
    { findRows }: Scrubber,
    after: number,
    until: number,
  ): Promise<void> {
    for (let [reached, slicesSinceSave] = [after, 0]; reached < until; ) {
      signal.throwIfAborted()
      const found = findRows(user, reached, until)
      reached = found.reached
      slicesSinceSave += 1
      if (found.changed > 0 || slicesSinceSave === CHECKPOINT_EVERY || reached === until) {
        slicesSinceSave = 0
        await store.commit(() => {
          found.apply()
          records.advanceTo(user.erasure_id, found.reached, found.changed)
        })
      }
      progress = { done: reached, of: until }
      await setImmediate()
    }
  }

  /**
   * Rewrites the whole file with VACUUM, which blocks everything until done. SQLite zeroes deleted rows, but when it
   * reorganizes a page it can leave a copy of a moved row in the page's unused space until that space is reused.
   * `in_log`: a reader keeps the previous pages in the write-ahead log in use; they are removed later.
   *
   * @throws Error of SQLite if there is no space for a second file; then nothing has changed.
   */
  async function compact(): Promise<{ bytes: number; in_log: boolean }> {
    await rewriteFile()
    logErasure.noteCompacted()
    await runs.run()
    const bytes = Number(store.pragma('page_count')) * Number(store.pragma('page_size'))
    return { bytes, in_log: logErasure.isPending() }
  }

  /** Stops the running erasure; it continues at the next start. */
  async function close(): Promise<void> {
    closing.abort(new Refusal(503, 'store_closing', 'Windfall stopped; it continues at the next start'))
    await runs.ended()
  }

  return {
    erase,
    lift,
    admit: tombstones.admit,
    isErased: tombstones.isErased,
    pendingTargets: openPendingTargets(store),
    finished,
    /** Continues pending erasures in the background. A failure is logged and retried the next time. */
    resume: runs.resume,
    progress: () => progress,
    list: records.list,
    /** Calls the listener within the unit of work that erases a user, to delete other data stored under their id. */
    onErase: erased.add,
    /** Adds a scrubber; call it before `resume`. Its step is stored and must never be renamed. */
    addScrubber: (scrubber: Scrubber): void => void scrubbers.push(scrubber),
    compact,
    close,
  }
}
