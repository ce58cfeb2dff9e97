/** What we remember: Apple's history of notifications compared with what arrived. What is missing is a gap, and is filled. */
import type { Verified } from '../../apple/jws/signed.ts'
import type { Notification } from '../../apple/notification.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Ledger } from '../ledger.ts'
import type { Realm } from './app_environment.ts'
import type { Question } from './customer_history.ts'
import { isFault, isPageGone } from './faults.ts'
import type { Gaps } from './gaps.ts'
import type { Intake } from './intake.ts'
import type { Watermarks } from './watermarks.ts'
import { later, OVERLAP_MS, REACH_MS, restarted, SETTLED_MS, type Window, windowFrom } from './windows.ts'

const RECOVERED = { origin: 'recovered', source: 'history' } as const
/** So many are held in memory before they are applied: about ten megabytes. */
const HELD = 1_000

/** What one comparison asked for and found. `from` and `until` in milliseconds since the epoch. */
export type Compared = {
  from: number
  until: number
  /** How many notifications Apple showed, how many of them we had not received, how many were refused. */
  notifications: number
  recovered: number
  refused: number
  /** The span of those that we had not received, by when they were signed; null when none was missing. */
  first_signed_at: number | null
  last_signed_at: number | null
}

type Held = Verified<Notification>[]
type Deps = { store: Store; clock: Clock; ledger: Ledger; intake: Intake; gaps: Gaps; watermarks: Watermarks }

export function openReconciliation({ store, clock, ledger, intake, gaps, watermarks }: Deps) {
  /** Where the next comparison begins: two hours before the watermark, or at `since`, but within Apple's reach. */
  function startOf(realm: Realm, since: number | null): number {
    const watermark = Math.min(watermarks.get(realm)?.compared_until_at ?? clock(), clock())
    return Math.max(since ?? watermark - OVERLAP_MS, clock() - REACH_MS)
  }

  /**
   * Compares everything that Apple signed since then, up to a minute ago. `tally` counts while it goes on, so that it
   * tells how far it came when it does not come to its end.
   *
   * @throws AppleFault; what was found before it is applied, and the watermark stays before what was not compared.
   */
  async function run(question: Question, tally: Compared): Promise<void> {
    const { realm } = question
    const compared = watermarks.get(realm)?.compared_until_at ?? tally.from
    // What Apple shows no more cannot be compared, and holds nothing up.
    const isContiguous = tally.from <= Math.max(compared, clock() - REACH_MS)
    let window = windowFrom(tally.from, tally.until)
    while (window.from < tally.until) {
      window = await readWindow(question, window, tally)
      const { from } = window
      if (isContiguous) await store.commitBulk(() => watermarks.reached(realm, from))
    }
    await store.commitBulk(() => {
      const gap = gaps.open(realm)
      if (gap !== null) gaps.fill(realm, gap)
    })
  }

  /** Reads one window, or until enough is held; gives what is to be read next. */
  async function readWindow(question: Question, window: Window, tally: Compared): Promise<Window> {
    const held: Held = []
    let at = window
    try {
      while (held.length < HELD) {
        question.signal.throwIfAborted()
        const page = await readPage(question, at, tally, held)
        if (page === null) return windowFrom(at.until, tally.until)
        at = { ...at, page }
      }
      return at
    } catch (error) {
      return otherwise(at, tally.until, error)
    } finally {
      await fill(question.realm, held, tally)
    }
  }

  /** Reads one page, holds what is missing, and gives the token of the next page. */
  async function readPage({ realm, api }: Question, at: Window, tally: Compared, held: Held) {
    const { payloads, next } = await api.notificationHistory(realm.environment, at)
    const { facts, refused } = await intake.notifications(realm, payloads)
    tally.notifications += payloads.length
    tally.refused += refused
    const missing = facts.filter(({ payload }) => !gaps.isKnown(realm, payload))
    const others = facts.filter((fact) => !missing.includes(fact))
    held.push(...missing)
    // Apple has signed the same notification anew: one more text, and no gap.
    await intake.applyAll(others, (fact) => ledger.apply(realm.app, fact, RECOVERED))
    return next
  }

  async function fill(realm: Realm, held: Held, tally: Compared): Promise<void> {
    if (held.length === 0) return
    const gap = await store.commitBulk(() =>
      gaps.find(
        realm,
        held.map(({ payload }) => payload),
      ),
    )
    if (gap === null) return
    await intake.applyAll(held, (fact) => {
      // It may have arrived by itself in the meantime.
      if (gaps.isKnown(realm, fact.payload)) return
      ledger.apply(realm.app, fact, RECOVERED)
      gaps.recover(gap)
      const signed_at = fact.payload.signed_at ?? 0
      tally.recovered += 1
      tally.first_signed_at = Math.min(tally.first_signed_at ?? signed_at, signed_at)
      tally.last_signed_at = Math.max(tally.last_signed_at ?? signed_at, signed_at)
    })
  }

  return { startOf, run }
}

/** What to read instead of what Apple would not show. @throws what it was thrown, where nothing would help. */
function otherwise(at: Window, until: number, fault: unknown): Window {
  if (isFault(fault, 'too_far_back')) return windowFrom(later(at), until)
  const shorter = isPageGone(fault) ? restarted(at) : null
  if (shorter === null) throw fault
  return shorter
}

/** Nothing asked yet. Apple may be about to bring what it signed within the last minute. */
export const nothingCompared = (from: number, now: number): Compared => ({
  from,
  until: now - SETTLED_MS,
  notifications: 0,
  recovered: 0,
  refused: 0,
  first_signed_at: null,
  last_signed_at: null,
})
