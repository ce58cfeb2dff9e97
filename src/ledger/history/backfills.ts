/** Stores the progress of each app's backfill, so that it resumes after a crash. */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { AppEnvironment } from './app_environment.ts'
import { HISTORY_DEPTH_MS, type Window, windowFrom } from './windows.ts'

/** The stages of a backfill, in order. `done`: nothing is left to read. */
export type Stage = 'notifications' | 'transactions' | 'statuses' | 'done'

/**
 * The progress of a backfill. The counts include entries that were already known. `problem` is why the backfill is
 * interrupted; null while it runs.
 */
export type BackfillRow = {
  app_id: string
  environment: Environment
  stage: Stage
  started_at: number
  finished_at: number | null
  /** Notifications that were signed before this instant were read. The stage `notifications` ends at `until_at`. */
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

type CountName = 'notifications' | 'lineages' | 'transactions' | 'statuses' | 'refused'

export type Backfills = ReturnType<typeof openBackfills>

export function openBackfills(store: Store, clock: Clock) {
  const find = store.prepare<[string, string], BackfillRow>(
    'select * from backfills where app_id = ? and environment = ?',
  )
  const insert = store.prepare<object>(`
    insert or ignore into backfills (app_id, environment, stage, started_at, read_until_at, until_at,
                                     notifications, lineages, transactions, statuses, refused)
    values (:app_id, :environment, 'notifications', :now, :from, :now, 0, 0, 0, 0, 0)`)
  // A start in the future was stored while the clock was ahead. If `until_at` is in the future, too, all is read again.
  const restartFromNow = store.prepare<object>(`
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
  const addCounts = store.prepare<object>(`
    update backfills set notifications = notifications + :notifications, lineages = lineages + :lineages,
      transactions = transactions + :transactions, statuses = statuses + :statuses, refused = refused + :refused
    where app_id = :app_id and environment = :environment`)
  const setProblem = store.prepare<[string, number, string, string]>(
    'update backfills set problem = ?, problem_at = ? where app_id = ? and environment = ?',
  )

  const get = ({ app, environment }: AppEnvironment): BackfillRow | null =>
    find.get(app.id, environment) ?? null

  /**
   * Begins a backfill of everything that Apple still shows. An existing backfill does not change, except that it starts
   * over if it began while the clock was ahead.
   */
  function begin({ app, environment }: AppEnvironment): void {
    const now = clock()
    const from = now - HISTORY_DEPTH_MS
    insert.run({ app_id: app.id, environment, now, from })
    restartFromNow.run({ app_id: app.id, environment, now, from })
  }

  /** The current or the next window to read; null when all windows were read. */
  function window(row: BackfillRow): Window | null {
    if (row.stage !== 'notifications' || row.read_until_at >= row.until_at) return null
    if (row.window_until_at === null) return windowFrom(row.read_until_at, row.until_at)
    return { from: row.read_until_at, until: row.window_until_at, page: row.page }
  }

  /** Records that reading continues within a window, at its `page`. */
  const resumeAt = ({ app, environment }: AppEnvironment, { from, until, page }: Window): void =>
    void setPosition.run(from, until, page, app.id, environment)

  /** Records that everything before `at` was read. The next window begins there. */
  const markReadUntil = ({ app, environment }: AppEnvironment, at: number): void =>
    void setPosition.run(at, null, null, app.id, environment)

  const enterStage = ({ app, environment }: AppEnvironment, stage: Stage): void =>
    void setStage.run(stage, stage === 'done' ? clock() : null, app.id, environment)

  /** Returns to the stage `transactions`, for events that are older than Apple's notification history. */
  const restart = ({ app, environment }: AppEnvironment): void => void renew.run(clock(), app.id, environment)

  const count = ({ app, environment }: AppEnvironment, counts: Partial<Record<CountName, number>>): void =>
    void addCounts.run({ ...NO_COUNTS, ...counts, app_id: app.id, environment })

  const recordProblem = ({ app, environment }: AppEnvironment, problem: string): void =>
    void setProblem.run(problem, clock(), app.id, environment)

  return { get, begin, window, resumeAt, markReadUntil, enterStage, restart, count, recordProblem }
}

const NO_COUNTS: Record<CountName, number> = {
  notifications: 0,
  lineages: 0,
  transactions: 0,
  statuses: 0,
  refused: 0,
}
