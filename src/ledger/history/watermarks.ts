/** Watermarks: up to when Apple's history of notifications was compared with what arrived. */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { AppEnvironment } from './app_environment.ts'

/** `problem`: why the last comparison did not finish; null if it did. */
export type Watermark = {
  app_id: string
  environment: Environment
  compared_until_at: number
  checked_at: number | null
  problem: string | null
  problem_at: number | null
}

export type Watermarks = ReturnType<typeof openWatermarks>

export function openWatermarks(store: Store, clock: Clock) {
  const find = store.prepare<[string, string], Watermark>(
    'select * from watermarks where app_id = ? and environment = ?',
  )
  const insert = store.prepare<[string, string, number]>(
    'insert or ignore into watermarks (app_id, environment, compared_until_at) values (?, ?, ?)',
  )
  // A watermark in the future was stored before the clock was set back.
  const raise = store.prepare<[number, number, string, string]>(`
    update watermarks set compared_until_at = max(min(compared_until_at, ?), ?) where app_id = ? and environment = ?`)
  const check = store.prepare<[number, string | null, number | null, string, string]>(
    'update watermarks set checked_at = ?, problem = ?, problem_at = ? where app_id = ? and environment = ?',
  )

  const get = ({ app, environment }: AppEnvironment): Watermark | null =>
    find.get(app.id, environment) ?? null

  /** Starts at now: the backfill covers what came before. */
  const begin = ({ app, environment }: AppEnvironment): void => void insert.run(app.id, environment, clock())

  /** Everything signed before `at` was compared. Never moves back, except from the future. */
  const advance = ({ app, environment }: AppEnvironment, at: number): void =>
    void raise.run(clock(), at, app.id, environment)

  /** Records how the last comparison ended. */
  const finish = ({ app, environment }: AppEnvironment, problem: string | null): void =>
    void check.run(clock(), problem, problem === null ? null : clock(), app.id, environment)

  return { get, begin, advance, finish }
}
