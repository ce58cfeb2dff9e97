/** Stores watermarks: until when Apple's notification history was compared with the received notifications. */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { AppEnvironment } from './app_environment.ts'

/** The watermark of an app environment. `problem` is why the last comparison did not finish; null if it finished. */
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
  // The watermark only rises, except that a watermark in the future was stored while the clock was ahead.
  const setComparedUntil = store.prepare<[number, number, string, string]>(`
    update watermarks set compared_until_at = max(min(compared_until_at, ?), ?) where app_id = ? and environment = ?`)
  const setResult = store.prepare<[number, string | null, number | null, string, string]>(
    'update watermarks set checked_at = ?, problem = ?, problem_at = ? where app_id = ? and environment = ?',
  )

  const get = ({ app, environment }: AppEnvironment): Watermark | null =>
    find.get(app.id, environment) ?? null

  /** Creates the watermark at the current time, if there is none. The backfill covers the time before it. */
  const begin = ({ app, environment }: AppEnvironment): void => void insert.run(app.id, environment, clock())

  /** Records that everything signed before `at` was compared. Moves the watermark back only if it is in the future. */
  const advance = ({ app, environment }: AppEnvironment, at: number): void =>
    void setComparedUntil.run(clock(), at, app.id, environment)

  /** Records how the last comparison ended. */
  const finish = ({ app, environment }: AppEnvironment, problem: string | null): void =>
    void setResult.run(clock(), problem, problem === null ? null : clock(), app.id, environment)

  return { get, begin, advance, finish }
}
