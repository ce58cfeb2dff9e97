/** What a process must do before it opens a database, for its disk to be slower than it is. */
import Database from 'better-sqlite3'

/**
 * Makes each COMMIT of this process wait `ms` more, as if for its disk, and hands out the connection that was opened
 * last: floors use the program's own, with another way of committing.
 */
export function watchDatabases(ms: number) {
  const { prepare } = Database.prototype
  const clock = new Int32Array(new SharedArrayBuffer(4))
  let latest: Database.Database | undefined

  Database.prototype.prepare = function watched(this: Database.Database, sql: string) {
    latest = this
    const statement = prepare.call(this, sql)
    if (ms > 0 && sql === 'commit') {
      const { run } = statement
      statement.run = (...given: unknown[]) => {
        const result: Database.RunResult = Reflect.apply(run, statement, given)
        Atomics.wait(clock, 0, 0, ms)
        return result
      }
    }
    return statement
  } as typeof prepare

  return {
    /** The connection that was used last to prepare a statement. */
    opened(): Database.Database {
      if (latest === undefined) throw new Error('no database has been opened')
      return latest
    },
  }
}
