/** What we remember: what each of Apple's answers, or its refusal to give one, makes of the day that was asked for. */
import type { ReportAnswer } from '../../apple/api/connect.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { dueAfterAnswer, dueAfterFailure, dueAfterNotYet, dueAfterSuspicion, isFresh } from './due.ts'
import { ReportFault } from './formats/fault.ts'
import { fingerprintOf } from './formats/text.ts'
import type { ImportDay, ImportDays } from './import_days.ts'
import type { Loading } from './loading.ts'
import type { ReceivedReports, Report, ReportDay } from './received.ts'
import type { ReportVersions } from './versions.ts'

/** `read` for the first time, `revised` since, `unchanged`; the others as import_days says. */
export type Outcome = 'read' | 'revised' | 'unchanged' | 'empty' | 'not_yet' | 'missing' | 'failed'
export type Taken = { outcome: Outcome; row_count: number }

type Deps = {
  store: Store
  clock: Clock
  received: ReceivedReports
  loading: Loading
  days: ImportDays
  versions: ReportVersions
  /** Called within the unit of work that makes a day another. */
  changed: (of: ReportDay) => void
}

/** Apple once told a retired version that there were no sales, where it should have refused it. */
export const SUSPECT = 'Apple says that nothing was sold, but SALES has subscriptions of this day'
const TAKEN_BACK = 'Apple says now that nothing was sold; what it gave before is kept'

export function openAnswers({ store, clock, received, loading, days, versions, changed }: Deps) {
  /** Takes an answer in. What is read is its day's from one moment to the next, or not at all. */
  async function take(of: ReportDay, answer: ReportAnswer): Promise<Taken> {
    if (answer.outcome === 'report') return takeReport(of, answer.version, answer.body)
    if (answer.outcome === 'gone') return takeGone(of)
    const outcome = await store.commitBulk(() => {
      if (answer.outcome === 'not_yet') return notYet(of)
      versions.learn(of, answer.version)
      return empty(of)
    })
    return { outcome, row_count: 0 }
  }

  async function takeReport(of: ReportDay, version: string, body: Buffer): Promise<Taken> {
    try {
      const sha256 = await fingerprintOf(body)
      if (versions.of(of) !== version) await store.commitBulk(() => versions.learn(of, version))
      const current = currentOf(of)
      if (current?.sha256.equals(sha256)) return await unchanged(of, current)
      const report = await received.keep(of, version, sha256, body)
      return await load(of, report, body, current)
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error
      return failed(of, error.message)
    }
  }

  async function load(of: ReportDay, report: Report, body: Buffer, current: Report | null): Promise<Taken> {
    const { row_count } = await loading.load(report, body, current?.id ?? null, () => {
      const due_at = dueAfterAnswer(of.day, clock(), current !== null)
      settle(of, { state: 'done', reason: null, report_id: report.id, tries: 0, due_at })
      review(of)
    })
    return { outcome: current === null ? 'read' : 'revised', row_count }
  }

  function currentOf(of: ReportDay): Report | null {
    const id = days.get(of)?.report_id ?? null
    return id === null ? null : received.get(id)
  }

  function unchanged(of: ReportDay, current: Report): Promise<Taken> {
    return store.commitBulk(() => {
      const due_at = dueAfterAnswer(of.day, clock(), false)
      settle(of, { state: 'done', reason: null, report_id: current.id, tries: 0, due_at })
      return { outcome: 'unchanged', row_count: 0 }
    })
  }

  function empty(of: ReportDay): Outcome {
    const before = days.get(of)
    const due_at = dueAfterAnswer(of.day, clock(), false)
    if (before?.state === 'done') {
      settle(of, { ...before, reason: TAKEN_BACK, due_at })
      return 'unchanged'
    }
    const tries = before?.reason === SUSPECT ? before.tries + 1 : 1
    settle(of, { state: 'empty', reason: null, report_id: null, tries, due_at })
    review(of)
    return 'empty'
  }

  function notYet(of: ReportDay): Outcome {
    const before = days.get(of)
    if (before && isKnown(before)) {
      settle(of, { ...before, due_at: dueAfterAnswer(of.day, clock(), true) })
      return 'unchanged'
    }
    const tries = (before?.state === 'not_yet' ? before.tries : 0) + 1
    const due_at = dueAfterNotYet(of.day, clock(), tries)
    settle(of, { state: 'not_yet', reason: 'Apple has not made it yet', report_id: null, tries, due_at })
    return 'not_yet'
  }

  /** Never to be had again, unless we hold what we could not read before. */
  async function takeGone(of: ReportDay): Promise<Taken> {
    const before = days.get(of)
    if (before && isKnown(before)) {
      await store.commitBulk(() => settle(of, { ...before, due_at: null }))
      return { outcome: 'unchanged', row_count: 0 }
    }
    const unread = received.unreadOf(of)
    const body = unread && received.read(unread.id)
    if (unread && body) {
      const taken = await load(of, unread, body, null).catch((error: unknown) => {
        if (!(error instanceof ReportFault)) throw error
        return null
      })
      if (taken) return taken
    }
    const reason = unread
      ? `Apple keeps it no longer, and what it gave cannot be read: ${unread.problem}`
      : 'Apple keeps it no longer'
    return store.commitBulk(() => {
      settle(of, { state: 'missing', reason, report_id: null, tries: 0, due_at: null })
      return { outcome: 'missing', row_count: 0 }
    })
  }

  /** Writes down that asking or reading failed. A day that is there already stays as it is. */
  function failed(of: ReportDay, problem: string): Promise<Taken> {
    return store.commitBulk(() => {
      const before = days.get(of)
      const tries = (before?.tries ?? 0) + 1
      const due_at = dueAfterFailure(clock(), tries)
      if (before && isKnown(before)) {
        settle(of, { ...before, reason: `asking again failed: ${problem}`, tries, due_at })
      } else {
        settle(of, { state: 'failed', reason: problem, report_id: null, tries, due_at })
      }
      return { outcome: 'failed', row_count: 0 }
    })
  }

  type Settled = Pick<ImportDay, 'state' | 'reason' | 'report_id' | 'tries' | 'due_at'>

  function settle({ organization_id, vendor_number, kind, day }: ReportDay, now: Settled): void {
    const before = days.get({ organization_id, vendor_number, kind, day })
    const isSame = before?.state === now.state && before.report_id === now.report_id
    const { state, reason, report_id, tries, due_at } = now
    days.put({
      organization_id,
      vendor_number,
      kind,
      day_on: day,
      state,
      reason,
      report_id,
      tries,
      due_at,
      asked_at: clock(),
      changed_at: isSame ? before.changed_at : clock(),
    })
    if (!isSame) changed({ organization_id, vendor_number, kind, day })
  }

  /** A day with subscriptions sold cannot end without subscriptions: told, and asked again, until Apple insists. */
  function review(of: ReportDay): void {
    const row = days.get({ ...of, kind: 'subscription' })
    if (row?.state !== 'empty') return
    const sold = (currentOf({ ...of, kind: 'sales' })?.subscription_units ?? 0) > 0
    if (sold === (row.reason === SUSPECT)) return
    if (sold) days.put({ ...row, reason: SUSPECT, due_at: dueOfSuspect(row) })
    else days.put({ ...row, reason: null, due_at: dueAfterAnswer(row.day_on, clock(), false) })
    changed({ ...of, kind: 'subscription' })
  }

  const dueOfSuspect = ({ day_on, tries }: ImportDay): number | null =>
    isFresh(day_on, clock()) ? dueAfterAnswer(day_on, clock(), false) : dueAfterSuspicion(clock(), tries)

  return { take, failed }
}

/** Apple has answered it: what comes after must be better to replace it. */
const isKnown = ({ state }: ImportDay): boolean => state === 'done' || state === 'empty'
