/** Compares Apple's history of notifications with what arrived. Missing notifications are a gap, which it fills. */
import type { Verified } from '../../apple/jws/signed.ts'
import type { Notification } from '../../apple/notification.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Ledger } from '../ledger.ts'
import type { AppEnvironment } from './app_environment.ts'
import type { HistoryRequest } from './customer_history.ts'
import { isFault, isPageTokenExpired } from './faults.ts'
import type { Gaps } from './gaps.ts'
import type { Intake } from './intake.ts'
import type { Watermarks } from './watermarks.ts'
import {
  HISTORY_DEPTH_MS,
  halveWindow,
  nextDay,
  OVERLAP_MS,
  SETTLED_MS,
  type Window,
  windowFrom,
} from './windows.ts'

const RECOVERED = { origin: 'recovered', source: 'history' } as const
/** Notifications held in memory before they are applied: about ten megabytes. */
const BUFFER_MAX = 1_000

/** The result of one comparison. `from` and `until` in milliseconds since the epoch. */
export type ReconcileCounts = {
  from: number
  until: number
  /** How many notifications Apple showed, how many of them were missing, how many were refused. */
  notifications: number
  recovered: number
  refused: number
  /** The first and last signing dates of the missing notifications; null if none was missing. */
  first_signed_at: number | null
  last_signed_at: number | null
}

type NotificationBuffer = Verified<Notification>[]
type Deps = { store: Store; clock: Clock; ledger: Ledger; intake: Intake; gaps: Gaps; watermarks: Watermarks }

export function openReconciliation({ store, clock, ledger, intake, gaps, watermarks }: Deps) {
  /** Where the next comparison begins: two hours before the watermark, or at `since`, but within Apple's retention. */
  function startFor(appEnvironment: AppEnvironment, since: number | null): number {
    const watermark = Math.min(watermarks.get(appEnvironment)?.compared_until_at ?? clock(), clock())
    return Math.max(since ?? watermark - OVERLAP_MS, clock() - HISTORY_DEPTH_MS)
  }

  /**
   * Compares everything that Apple signed since then, up to a minute ago. `counts` is updated during the run, so it
   * shows the progress of an interrupted one.
   *
   * @throws AppleFault; what was found before it is applied, and the watermark stays before what was not compared.
   */
  async function run(request: HistoryRequest, counts: ReconcileCounts): Promise<void> {
    const { appEnvironment } = request
    const compared = watermarks.get(appEnvironment)?.compared_until_at ?? counts.from
    // What Apple no longer shows cannot be compared, and does not hold the watermark back.
    const isContiguous = counts.from <= Math.max(compared, clock() - HISTORY_DEPTH_MS)
    let window = windowFrom(counts.from, counts.until)
    while (window.from < counts.until) {
      window = await readWindow(request, window, counts)
      const { from } = window
      if (isContiguous) await store.commitBulk(() => watermarks.advance(appEnvironment, from))
    }
    await store.commitBulk(() => {
      const gap = gaps.findOpen(appEnvironment)
      if (gap !== null) gaps.fill(appEnvironment, gap)
    })
  }

  /** Reads one window, or until the buffer is full. Returns what to read next. */
  async function readWindow(
    request: HistoryRequest,
    window: Window,
    counts: ReconcileCounts,
  ): Promise<Window> {
    const buffer: NotificationBuffer = []
    let at = window
    try {
      while (buffer.length < BUFFER_MAX) {
        request.signal.throwIfAborted()
        const page = await readPage(request, at, counts, buffer)
        if (page === null) return windowFrom(at.until, counts.until)
        at = { ...at, page }
      }
      return at
    } catch (error) {
      return retryWindow(at, counts.until, error)
    } finally {
      await recoverMissing(request.appEnvironment, buffer, counts)
    }
  }

  /** Reads one page, buffers what is missing, and returns the token of the next page. */
  async function readPage(
    { appEnvironment, api }: HistoryRequest,
    at: Window,
    counts: ReconcileCounts,
    buffer: NotificationBuffer,
  ) {
    const { payloads, next } = await api.notificationHistory(appEnvironment.environment, at)
    const { facts, refused } = await intake.notifications(appEnvironment, payloads)
    counts.notifications += payloads.length
    counts.refused += refused
    const missing = facts.filter(({ payload }) => !gaps.isKnown(appEnvironment, payload))
    const signedAgain = facts.filter((fact) => !missing.includes(fact))
    buffer.push(...missing)
    // The others have arrived before. Apple signed them again: the text is new, but nothing was missing.
    await intake.applyAll(signedAgain, (fact) => ledger.apply(appEnvironment.app, fact, RECOVERED))
    return next
  }

  async function recoverMissing(
    appEnvironment: AppEnvironment,
    buffer: NotificationBuffer,
    counts: ReconcileCounts,
  ): Promise<void> {
    if (buffer.length === 0) return
    const gap = await store.commitBulk(() =>
      gaps.openOrExtend(
        appEnvironment,
        buffer.map(({ payload }) => payload),
      ),
    )
    if (gap === null) return
    await intake.applyAll(buffer, (fact) => {
      // It may have arrived in the meantime.
      if (gaps.isKnown(appEnvironment, fact.payload)) return
      ledger.apply(appEnvironment.app, fact, RECOVERED)
      gaps.countRecovered(gap)
      const signed_at = fact.payload.signed_at ?? 0
      counts.recovered += 1
      counts.first_signed_at = Math.min(counts.first_signed_at ?? signed_at, signed_at)
      counts.last_signed_at = Math.max(counts.last_signed_at ?? signed_at, signed_at)
    })
  }

  return { startFor, run }
}

/** The window to read instead of one that Apple refused. @throws the given fault if no other would help. */
function retryWindow(at: Window, until: number, fault: unknown): Window {
  if (isFault(fault, 'too_far_back')) return windowFrom(nextDay(at), until)
  const shorter = isPageTokenExpired(fault) ? halveWindow(at) : null
  if (shorter === null) throw fault
  return shorter
}

/** Zero counts. The range ends a minute ago, because what Apple signed since may still be on its way. */
export const emptyCounts = (from: number, now: number): ReconcileCounts => ({
  from,
  until: now - SETTLED_MS,
  notifications: 0,
  recovered: 0,
  refused: 0,
  first_signed_at: null,
  last_signed_at: null,
})
