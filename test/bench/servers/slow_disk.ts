/** Simulates a slow disk. Call it before the process opens a database. */
import Database from 'better-sqlite3'

/** Makes each COMMIT of this process wait `ms` more, as if for its disk. */
export function slowCommits(ms: number): void {
  const { prepare } = Database.prototype
  const clock = new Int32Array(new SharedArrayBuffer(4))

  Database.prototype.prepare = function watched(this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql)
    if (sql === 'commit') {
      const { run } = statement
      statement.run = (...given: unknown[]) => {
        const result: Database.RunResult = Reflect.apply(run, statement, given)
        Atomics.wait(clock, 0, 0, ms)
        return result
      }
    }
    return statement
  } as typeof prepare
}
