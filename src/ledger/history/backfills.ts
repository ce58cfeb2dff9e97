/** Stores the progress of each app's backfill, so that it resumes after a crash. */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { AppEnvironment } from './app_environment.ts'
import { HISTORY_DEPTH_MS, type Window, windowFrom } from './windows.ts'

/** In this order; `done` when nothing is left to read. */
export type Stage = 'notifications' | 'transactions' | 'statuses' | 'done'

/** Counts are of what Apple showed, known or not. `problem` is why the backfill is interrupted; null while it runs. */
export type BackfillRow = {
  app_id: string
  environment: Environment
  stage: Stage
  started_at: number
  finished_at: number | null
  /** Of the notifications signed before `until_at`, those signed before this were read. */
  read_until_at: number
  until_at: number
  window_until_at: number | null
  page: string | null
  notifications: number
  lineages: number
  transactions: number
  statuses: number
  refused: number
  problem: string | null
  problem_at: number | null
}

type Count = 'notifications' | 'lineages' | 'transactions' | 'statuses' | 'refused'

export type Backfills = ReturnType<typeof openBackfills>

export function openBackfills(store: Store, clock: Clock) {
  const find = store.prepare<[string, string], BackfillRow>(
    'select * from backfills where app_id = ? and environment = ?',
  )
  const insert = store.prepare<object>(`
    insert or ignore into backfills (app_id, environment, stage, started_at, read_until_at, until_at,
                                     notifications, lineages, transactions, statuses, refused)
    values (:app_id, :environment, 'notifications', :now, :from, :now, 0, 0, 0, 0, 0)`)
  // A backfill that begins in the future was started while the clock was ahead: its windows hold nothing yet.
  const rebase = store.prepare<object>(`
    update backfills set started_at = :now, stage = iif(until_at > :now, 'notifications', stage),
      read_until_at = iif(until_at > :now, :from, read_until_at), until_at = min(until_at, :now),
      window_until_at = null, page = null
    where app_id = :app_id and environment = :environment and started_at > :now`)
  const setPosition = store.prepare<[number, number | null, string | null, string, string]>(`
    update backfills set read_until_at = ?, window_until_at = ?, page = ?, problem = null, problem_at = null
    where app_id = ? and environment = ?`)
  const setStage = store.prepare<[Stage, number | null, string, string]>(`
    update backfills set stage = ?, finished_at = ?, problem = null, problem_at = null
    where app_id = ? and environment = ?`)
  const renew = store.prepare<[number, string, string]>(`
    update backfills set stage = 'transactions', started_at = ?, finished_at = null
    where app_id = ? and environment = ?`)
  const add = store.prepare<object>(`
    update backfills set notifications = notifications + :notifications, lineages = lineages + :lineages,
      transactions = transactions + :transactions, statuses = statuses + :statuses, refused = refused + :refused
    where app_id = :app_id and environment = :environment`)
  const setProblem = store.prepare<[string, number, string, string]>(
    'update backfills set problem = ?, problem_at = ? where app_id = ? and environment = ?',
  )

  const get = ({ app, environment }: AppEnvironment): BackfillRow | null =>
    find.get(app.id, environment) ?? null

  /**
   * Begins a backfill over all that Apple shows. An existing one does not change, unless the clock was ahead when it
   * began: it then starts over.
   */
  function begin({ app, environment }: AppEnvironment): void {
    const now = clock()
    const from = now - HISTORY_DEPTH_MS
    insert.run({ app_id: app.id, environment, now, from })
    rebase.run({ app_id: app.id, environment, now, from })
  }

  /** The current window, or the next one; null when all were read. */
  function window(row: BackfillRow): Window | null {
    if (row.stage !== 'notifications' || row.read_until_at >= row.until_at) return null
    if (row.window_until_at === null) return windowFrom(row.read_until_at, row.until_at)
    return { from: row.read_until_at, until: row.window_until_at, page: row.page }
  }

  /** Continues within a window, at the page it names. */
  const resumeAt = ({ app, environment }: AppEnvironment, { from, until, page }: Window): void =>
    void setPosition.run(from, until, page, app.id, environment)

  /** Everything before `at` was read: the next window begins there. */
  const markReadUntil = ({ app, environment }: AppEnvironment, at: number): void =>
    void setPosition.run(at, null, null, app.id, environment)

  const enterStage = ({ app, environment }: AppEnvironment, stage: Stage): void =>
    void setStage.run(stage, stage === 'done' ? clock() : null, app.id, environment)

  /** Reads transactions and statuses again, for events that are too old for the history of notifications. */
  const restart = ({ app, environment }: AppEnvironment): void => void renew.run(clock(), app.id, environment)

  const count = ({ app, environment }: AppEnvironment, counts: Partial<Record<Count, number>>): void =>
    void add.run({ ...NO_COUNTS, ...counts, app_id: app.id, environment })

  const recordProblem = ({ app, environment }: AppEnvironment, problem: string): void =>
    void setProblem.run(problem, clock(), app.id, environment)

  return { get, begin, window, resumeAt, markReadUntil, enterStage, restart, count, recordProblem }
}

const NO_COUNTS: Record<Count, number> = {
  notifications: 0,
  lineages: 0,
  transactions: 0,
  statuses: 0,
  refused: 0,
}
