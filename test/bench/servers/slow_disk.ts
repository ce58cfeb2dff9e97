/** Simulates a slow disk. */
import Database from 'better-sqlite3'

/** Delays each COMMIT of this process by `ms`. Call it before the process opens a database. */
export function delayCommits(ms: number): void {
  const { prepare } = Database.prototype
  const clock = new Int32Array(new SharedArrayBuffer(4))

  Database.prototype.prepare = function prepareDelayed(this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql)
    if (sql === 'commit') {
      const { run } = statement
      statement.run = (...args: unknown[]) => {
        const result: Database.RunResult = Reflect.apply(run, statement, args)
        Atomics.wait(clock, 0, 0, ms)
        return result
      }
    }
    return statement
  } as typeof prepare
}
