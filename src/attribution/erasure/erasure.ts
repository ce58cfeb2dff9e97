/**
 * What we remember: who is being forgotten, until they are. What one person left goes, slice by slice; what Apple said of
 * their purchases stays and is nobody's.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import type { Live } from '../../events/live.ts'
import { type ScrubTarget, scrubEvent } from '../../events/scrubbed.ts'
import { openScrubbing } from '../../events/scrubbing.ts'
import { openHook } from '../../hooks.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { type Erasure, type ErasureRecord, openErasureRecords, toErasureRecord } from './erasure_records.ts'
import { openLinkErasure } from './link_erasure.ts'
import { openStatisticsSamples } from './statistics_samples.ts'
import { openTombstones } from './tombstones.ts'

/** Who is forgotten: a user of one app, and by which erasure. */
type ErasedUser = { app_id: string; app_user_id: string; erasure_id: string }

/**
 * Something that repeats what events say, gone through from 0 to `end()` in slices. `look` names somebody in what lies
 * after `after`, up to `until` at most, and does not write; `apply` takes them out, inside a unit of work. Both may be
 * done again after a crash.
 */
type Scrubber = {
  step: string
  end: () => number
  look: (
    user: ErasedUser,
    after: number,
    until: number,
  ) => { reached: number; changed: number; apply: () => void }
}

/** How far what is under way is, in events and the like. */
export type ErasureProgress = { done: number; of: number }

type Deps = {
  store: Store
  clock: Clock
  feed: Feed
  live: Live
  log: Log
  wait: (ms: number) => Promise<void>
}
/** What is asked for; `even_unknown` where nothing is known of the user yet, so that nothing ever is. */
type ErasureRequest = { app_id: string; app_user_id: string; asked_by: string; even_unknown?: boolean }

/** How often it is written down how far a step is where nothing had to be changed. */
const CHECKPOINT_EVERY = 40
/** How often, and after how long, the write-ahead log is tried to be emptied while somebody reads what is in it. */
const WAL_TRUNCATE_ATTEMPTS = 50
const WAL_TRUNCATE_RETRY_MS = 100

export type Erasures = ReturnType<typeof openErasures>

export function openErasures({ store, clock, feed, live, log, wait }: Deps) {
  const records = openErasureRecords(store)
  const tombstones = openTombstones(store, clock)
  const links = openLinkErasure(store)
  const samples = openStatisticsSamples(store)
  const findUser = store.prepare<[string, string], object>(
    'select 1 from users where app_id = ? and app_user_id = ?',
  )
  const dropUser = store.prepare<[string, string]>('delete from users where app_id = ? and app_user_id = ?')
  const vacuum = store.prepare('vacuum')
  const scrubbing = openScrubbing(store)
  const scrubbers: Scrubber[] = [
    {
      step: 'events',
      end: feed.head,
      look: (user, after, until) => scrubbing.scan(pseudonymFor(user), after, until),
    },
  ]
  const forgotten = openHook<[person: ErasedUser]>()
  const closing = new AbortController()
  let working: Promise<void> | null = null
  let progress: ErasureProgress | null = null

  /**
   * Forgets a user, inside the caller's unit of work: from then on no call for them is accepted, and nothing they said of
   * themselves is there. The rest is scrubbed after it, in the background. Whoever is forgotten already is no fault.
   *
   * @throws Refusal 404 `unknown_user`.
   */
  function erase({ app_id, app_user_id, asked_by, even_unknown = false }: ErasureRequest): ErasureRecord {
    const activeErasureId = tombstones.activeErasure(app_id, app_user_id)
    const known = activeErasureId === null ? null : records.get(activeErasureId)
    if (known) return toErasureRecord(known)
    const isKnown = findUser.get(app_id, app_user_id) !== undefined || links.hasLinks(app_id, app_user_id)
    if (!isKnown && !even_unknown)
      throw new Refusal(404, 'unknown_user', 'nothing is known of this user in this app')
    const erasure_id = records.begin(app_id, app_user_id, asked_by, clock())
    tombstones.set(app_id, app_user_id, erasure_id)
    dropUser.run(app_id, app_user_id)
    const user = { app_id, app_user_id, erasure_id }
    forgotten.call(user)
    store.afterCommit(() => {
      live.change((event) => scrubEvent(event, pseudonymFor(user)))
      resume()
    })
    return toErasureRecord(requireErasure(erasure_id))
  }

  function requireErasure(erasure_id: string): Erasure {
    const erasure = records.get(erasure_id)
    if (!erasure) throw new Error(`there is no erasure ${erasure_id}`)
    return erasure
  }

  /**
   * Accepts calls for a user again, inside the caller's unit of work. Nothing that was forgotten comes back.
   *
   * @throws Refusal 404 `not_forgotten`, 409 `erasure_running` while they are being forgotten.
   */
  function lift(app_id: string, app_user_id: string): ErasureRecord {
    const activeErasureId = tombstones.activeErasure(app_id, app_user_id)
    if (activeErasureId === null)
      throw new Refusal(404, 'not_forgotten', 'this user is not among those who were forgotten')
    const erasure = requireErasure(activeErasureId)
    if (erasure.finished_at === null)
      throw new Refusal(409, 'erasure_running', 'this user is being forgotten; try again when that is done')
    tombstones.lift(app_id, app_user_id)
    return toErasureRecord(erasure)
  }

  /** Goes on with what is not done, in the background. What fails is told, and tried again the next time. */
  function resume(): void {
    runPending().catch((error) => {
      if (!closing.signal.aborted)
        log.error('somebody could not be forgotten yet; it goes on later', { error })
    })
  }

  /** Resolves once an erasure is done. Rejects with what held it up; then it goes on later. */
  async function finished(erasure_id: string): Promise<ErasureRecord> {
    while (requireErasure(erasure_id).finished_at === null) await runPending()
    return toErasureRecord(requireErasure(erasure_id))
  }

  function runPending(): Promise<void> {
    working ??= runAll().finally(() => {
      working = null
      progress = null
    })
    return working
  }

  async function runAll(): Promise<void> {
    for (let erasure = records.next(); erasure !== null; erasure = records.next()) {
      closing.signal.throwIfAborted()
      const { id, app_id, app_user_id } = erasure
      if (app_user_id !== null) await scrub(erasure, { app_id, app_user_id, erasure_id: id })
      await truncateWal()
      await store.commit(() => records.finish(id, clock()))
      log.info('somebody was forgotten', { erasure: id })
    }
  }

  async function scrub(erasure: Erasure, user: ErasedUser): Promise<void> {
    if (erasure.step === null) await scrubLinks(user)
    const from = scrubbers.findIndex(({ step }) => step === erasure.step)
    for (const [index, scrubber] of scrubbers.entries()) {
      if (index < from) continue
      const { reached, until } = index === from ? erasure : await enterStep(user, scrubber)
      await scrubRange(user, scrubber, reached, until)
    }
    await store.commit(() => {
      samples.drop(user.app_user_id)
      records.anonymise(user.erasure_id)
    })
  }

  async function scrubLinks({ app_id, app_user_id, erasure_id }: ErasedUser): Promise<void> {
    for (let more = true; more; ) {
      closing.signal.throwIfAborted()
      more = await store.commit(() => {
        const scrubbed = links.scrubSome(app_id, app_user_id)
        records.countLinks(erasure_id, scrubbed)
        return scrubbed > 0
      })
      await setImmediate()
    }
  }

  /** Nothing that comes after this names them: no link does. */
  function enterStep({ erasure_id }: ErasedUser, { step, end }: Scrubber) {
    return store.commit(() => {
      const until = end()
      records.enterStep(erasure_id, step, until)
      return { reached: 0, until }
    })
  }

  async function scrubRange(
    user: ErasedUser,
    { look }: Scrubber,
    after: number,
    until: number,
  ): Promise<void> {
    for (let [reached, unwritten] = [after, 0]; reached < until; ) {
      closing.signal.throwIfAborted()
      const found = look(user, reached, until)
      reached = found.reached
      unwritten += 1
      if (found.changed > 0 || unwritten === CHECKPOINT_EVERY || reached === until) {
        unwritten = 0
        await store.commit(() => {
          found.apply()
          records.advanceTo(user.erasure_id, found.reached, found.changed)
        })
      }
      progress = { done: reached, of: until }
      await setImmediate()
    }
  }

  /** The write-ahead log still holds what the file no longer does, until it is emptied into it. */
  async function truncateWal(): Promise<void> {
    for (let attempt = 1; attempt <= WAL_TRUNCATE_ATTEMPTS; attempt += 1) {
      closing.signal.throwIfAborted()
      if (store.pragma('wal_checkpoint(TRUNCATE)') === 0) return
      await wait(WAL_TRUNCATE_RETRY_MS)
    }
    log.warn(
      'somebody keeps reading the database: what was forgotten stays in its write-ahead log until it starts again',
    )
  }

  /**
   * Writes the whole file anew, for as long as which nothing else happens. SQLite zeroes what is deleted, but where it
   * makes room within a page it may leave a copy of a row it moved, in what is unused there until it is used again.
   *
   * @throws Error of SQLite where there is no room for a second file; then all is as it was.
   */
  async function compact(): Promise<{ bytes: number }> {
    vacuum.run()
    await truncateWal()
    return { bytes: Number(store.pragma('page_count')) * Number(store.pragma('page_size')) }
  }

  /** Adds something that repeats what events say; before anything is resumed. Its step must stay named as it is. */
  const addScrubber = (scrubber: Scrubber): void => void scrubbers.push(scrubber)

  /** Stops what is under way; it goes on at the next start. */
  async function close(): Promise<void> {
    closing.abort(new Refusal(503, 'store_closing', 'Windfall stopped; it goes on when it is started again'))
    await working?.catch(() => {})
  }

  return {
    erase,
    lift,
    admit: tombstones.admit,
    isErased: tombstones.isErased,
    finished,
    resume,
    progress: () => progress,
    list: records.list,
    /** Calls the listener within the unit of work that forgets a user, for what else is known of them by their id. */
    onErase: forgotten.add,
    addScrubber,
    compact,
    close,
  }
}

const pseudonymFor = ({ app_id, app_user_id, erasure_id }: ErasedUser): ScrubTarget => ({
  app_id,
  app_user_id,
  replacement: `forgotten/${erasure_id}`,
})
