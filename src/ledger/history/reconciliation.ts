/** Compares Apple's notification history with the received notifications, and applies the missing ones. */
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
  DELIVERY_DELAY_MS,
  HISTORY_DEPTH_MS,
  halveWindow,
  nextDay,
  OVERLAP_MS,
  type Window,
  windowFrom,
} from './windows.ts'

const RECOVERED = { origin: 'recovered', source: 'history' } as const
/** The number of missing notifications that are held in memory before they are applied: about ten megabytes. */
const MAX_BUFFERED = 1_000

/** The result of one comparison. All instants are in milliseconds since the epoch. */
export type ReconcileCounts = {
  from: number
  until: number
  /** The number of notifications that Apple returned, and how many of them were recovered and refused. */
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
  /** The start of the next comparison: two hours before the watermark, or `since`, but within Apple's retention. */
  function startFor(appEnvironment: AppEnvironment, since: number | null): number {
    const watermark = Math.min(watermarks.get(appEnvironment)?.compared_until_at ?? clock(), clock())
    return Math.max(since ?? watermark - OVERLAP_MS, clock() - HISTORY_DEPTH_MS)
  }

  /**
   * Compares everything that Apple signed between `counts.from` and `counts.until`. The other fields of `counts` are
   * updated during the run, so they show the progress of an interrupted run.
   *
   * @throws AppleFault; missing notifications found before are applied, and the watermark stays before uncompared time.
   */
  async function run(request: HistoryRequest, counts: ReconcileCounts): Promise<void> {
    const { appEnvironment } = request
    const comparedUntil = watermarks.get(appEnvironment)?.compared_until_at ?? counts.from
    // The watermark may skip notifications that are too old for Apple's history, because they cannot be compared.
    const isContiguous = counts.from <= Math.max(comparedUntil, clock() - HISTORY_DEPTH_MS)
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

  /** Reads one window, or a part of it until the buffer is full. Returns the window and page to read next. */
  async function readWindow(
    request: HistoryRequest,
    window: Window,
    counts: ReconcileCounts,
  ): Promise<Window> {
    const buffer: NotificationBuffer = []
    let position = window
    try {
      while (buffer.length < MAX_BUFFERED) {
        request.signal.throwIfAborted()
        const page = await readPage(request, position, counts, buffer)
        if (page === null) return windowFrom(position.until, counts.until)
        position = { ...position, page }
      }
      return position
    } catch (error) {
      return retryWindow(position, counts.until, error)
    } finally {
      await recoverMissing(request.appEnvironment, buffer, counts)
    }
  }

  /** Reads one page, buffers its missing notifications, and returns the token of the next page. */
  async function readPage(
    { appEnvironment, api }: HistoryRequest,
    position: Window,
    counts: ReconcileCounts,
    buffer: NotificationBuffer,
  ) {
    const { payloads, next } = await api.notificationHistory(appEnvironment.environment, position)
    const { facts, refused } = await intake.notifications(appEnvironment, payloads)
    counts.notifications += payloads.length
    counts.refused += refused
    const missing = facts.filter(({ payload }) => !gaps.isKnown(appEnvironment, payload))
    const signedAgain = facts.filter((fact) => !missing.includes(fact))
    buffer.push(...missing)
    // The other notifications had arrived. Apple signed them again, so their texts are new, but none was missing.
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
      // The notification may have arrived in the meantime.
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

/** The window to read instead of a window that Apple refused. @throws `fault` if another window would not help */
function retryWindow(position: Window, until: number, fault: unknown): Window {
  if (isFault(fault, 'too_far_back')) return windowFrom(nextDay(position), until)
  const shorter = isPageTokenExpired(fault) ? halveWindow(position) : null
  if (shorter === null) throw fault
  return shorter
}

/** Zero counts. The range ends a minute ago, because newer notifications may not have been delivered yet. */
export const emptyCounts = (from: number, now: number): ReconcileCounts => ({
  from,
  until: now - DELIVERY_DELAY_MS,
  notifications: 0,
  recovered: 0,
  refused: 0,
  first_signed_at: null,
  last_signed_at: null,
})
