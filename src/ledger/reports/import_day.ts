/** Applies Apple's answer or a fault to a day of a report. */
import type { ReportResult } from '../../apple/api/connect.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { openDayUpdates } from './day_updates.ts'
import { dueAfterAnswer, dueAfterFailure, dueAfterNotYet } from './due.ts'
import { ReportFault } from './formats/fault.ts'
import { fingerprintOf } from './formats/text.ts'
import type { ImportDay, ImportDays } from './import_days.ts'
import type { ReportLoader } from './loading.ts'
import type { ReceivedReports, Report, ReportDay } from './received.ts'
import { isSuspect, openSuspicion } from './suspicion.ts'
import type { ReportVersions } from './versions.ts'

/**
 * The outcome of a request. `read`: the first report of the day. `revised`: a report that differs from the previous
 * one. `unchanged`: the answer did not change the day. The other outcomes are states of import_days.
 */
export type Outcome = 'read' | 'revised' | 'unchanged' | 'empty' | 'not_yet' | 'missing' | 'failed'
export type DayResult = { outcome: Outcome; row_count: number }

type Deps = {
  store: Store
  clock: Clock
  received: ReceivedReports
  loader: ReportLoader
  days: ImportDays
  versions: ReportVersions
  /** Called within the unit of work that changes a day. */
  notifyChanged: (reportDay: ReportDay) => void
}

const WITHDRAWN_REASON = 'Apple now says that nothing was sold; the earlier report is kept'

export function openDayImporter({ store, clock, received, loader, days, versions, notifyChanged }: Deps) {
  const { saveDay, doneWith } = openDayUpdates({ clock, days, notifyChanged })
  const { checkEmpty } = openSuspicion({ store, clock, received, days, notifyChanged })

  /** Applies an answer. A report replaces the rows of its day in one commit, or not at all. */
  async function applyAnswer(reportDay: ReportDay, answer: ReportResult): Promise<DayResult> {
    if (answer.outcome === 'report') return applyReport(reportDay, answer.version, answer.body)
    if (answer.outcome === 'gone') return applyGone(reportDay)
    const outcome = await store.commitBulk(() => {
      if (answer.outcome === 'not_yet') return applyNotYet(reportDay)
      versions.learn(reportDay, answer.version)
      return applyEmpty(reportDay)
    })
    return { outcome, row_count: 0 }
  }

  async function applyReport(reportDay: ReportDay, version: string, body: Buffer): Promise<DayResult> {
    try {
      const sha256 = await fingerprintOf(body)
      if (versions.latest(reportDay) !== version)
        await store.commitBulk(() => versions.learn(reportDay, version))
      const current = currentOf(reportDay)
      if (current?.sha256.equals(sha256) && !(await loader.readsMore(current, body)))
        return await applyUnchanged(reportDay, current)
      const report = await received.save(reportDay, version, sha256, body)
      return await load(reportDay, report, body, current)
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error
      return recordFailure(reportDay, error.message)
    }
  }

  async function load(
    reportDay: ReportDay,
    report: Report,
    body: Buffer,
    current: Report | null,
  ): Promise<DayResult> {
    const { row_count } = await loader.load(report, body, current, ({ problem }) => {
      const update = doneWith(reportDay, report.id, { problem, isRevised: current !== null })
      saveDay(reportDay, update, { isReread: current?.id === report.id })
      checkEmpty(reportDay)
    })
    return { outcome: current === null ? 'read' : 'revised', row_count }
  }

  function currentOf(reportDay: ReportDay): Report | null {
    const id = days.get(reportDay)?.report_id ?? null
    return id === null ? null : received.get(id)
  }

  function applyUnchanged(reportDay: ReportDay, { id, problem }: Report): Promise<DayResult> {
    return store.commitBulk(() => {
      saveDay(reportDay, doneWith(reportDay, id, { problem, isRevised: false }))
      return { outcome: 'unchanged', row_count: 0 }
    })
  }

  function applyEmpty(reportDay: ReportDay): Outcome {
    const before = days.get(reportDay)
    const due_at = dueAfterAnswer(reportDay.day, clock(), false)
    if (before?.state === 'done') {
      saveDay(reportDay, { ...before, reason: WITHDRAWN_REASON, due_at })
      return 'unchanged'
    }
    const tries = before && isSuspect(before) ? before.tries + 1 : 1
    saveDay(reportDay, { state: 'empty', reason: null, report_id: null, tries, due_at })
    checkEmpty(reportDay)
    return 'empty'
  }

  function applyNotYet(reportDay: ReportDay): Outcome {
    const before = days.get(reportDay)
    if (before && isAnswered(before)) {
      saveDay(reportDay, { ...before, due_at: dueAfterAnswer(reportDay.day, clock(), true) })
      return 'unchanged'
    }
    const tries = (before?.state === 'not_yet' ? before.tries : 0) + 1
    const due_at = dueAfterNotYet(reportDay.day, clock(), tries)
    saveDay(reportDay, {
      state: 'not_yet',
      reason: 'Apple has not published the report yet',
      report_id: null,
      tries,
      due_at,
    })
    return 'not_yet'
  }

  /** Loads the rows of a stored report that an earlier version left out; null if there are none that this version reads. */
  async function rereadStored(reportDay: ReportDay): Promise<DayResult | null> {
    const current = currentOf(reportDay)
    const stored = current?.problem ? received.read(current.id) : null
    if (!current || !stored || !(await loader.readsMore(current, stored))) return null
    return load(reportDay, current, stored, current)
  }

  /** Applies the answer that Apple no longer has the day. Loads a stored report if this version can read it now. */
  async function applyGone(reportDay: ReportDay): Promise<DayResult> {
    const before = days.get(reportDay)
    const reread = await rereadStored(reportDay)
    if (reread) return reread
    if (before && isAnswered(before)) {
      await store.commitBulk(() => saveDay(reportDay, { ...before, due_at: null }))
      return { outcome: 'unchanged', row_count: 0 }
    }
    const unreadable = received.findUnreadable(reportDay)
    const body = unreadable && received.read(unreadable.id)
    if (unreadable && body) {
      const result = await load(reportDay, unreadable, body, null).catch((error: unknown) => {
        if (!(error instanceof ReportFault)) throw error
        return null
      })
      if (result) return result
    }
    const reason = unreadable
      ? `Apple no longer has the report, and the stored report cannot be read: ${unreadable.problem}`
      : 'Apple no longer has the report'
    return store.commitBulk(() => {
      saveDay(reportDay, { state: 'missing', reason, report_id: null, tries: 0, due_at: null })
      return { outcome: 'missing', row_count: 0 }
    })
  }

  /** Records a request that failed or a report that could not be read. An earlier answer for the day is preserved. */
  function recordFailure(reportDay: ReportDay, problem: string): Promise<DayResult> {
    return store.commitBulk(() => {
      const before = days.get(reportDay)
      const tries = (before?.tries ?? 0) + 1
      const due_at = dueAfterFailure(clock(), tries)
      if (before && isAnswered(before)) {
        const reason = isSuspect(before) ? before.reason : `the next request failed: ${problem}`
        saveDay(reportDay, { ...before, reason, tries, due_at })
      } else {
        saveDay(reportDay, { state: 'failed', reason: problem, report_id: null, tries, due_at })
      }
      return { outcome: 'failed', row_count: 0 }
    })
  }

  return { applyAnswer, recordFailure }
}

/** Whether Apple has answered a request for the day. A later failure must not replace the answer. */
const isAnswered = ({ state }: ImportDay): boolean => state === 'done' || state === 'empty'
