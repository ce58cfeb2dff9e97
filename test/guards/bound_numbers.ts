/**
 * Fails a test that stores a number with a fraction, or one beyond the safe integers. No column of the schema has fractions, but a
 * strict table converts a number that happens to be whole, so that only some values of a wrong calculation fail.
 */
import Database from 'better-sqlite3'

/** A time, duration or amount with a fraction or an exponent in JSON text. */
const FRACTION = /"\w*(?:_at|_ms|_milli)":-?\d+(?:\.\d|e)[^,}\]]*/i

/** Returns the text of a time, duration or amount in JSON that is not a whole number; null if there is none. */
export const fractionIn = (json: string): string | null => FRACTION.exec(json)?.[0] ?? null

function faultOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? null : `the number ${value}`
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return null
  return fractionIn(value)
}

function assertWhole(sql: string, args: readonly unknown[]): void {
  for (const value of args.flatMap((arg) => (isNamed(arg) ? Object.values(arg) : [arg]))) {
    const fault = faultOf(value)
    if (fault !== null) throw new Error(`a statement that writes is bound to ${fault}: ${sql}`)
  }
}

const isNamed = (arg: unknown): arg is object =>
  typeof arg === 'object' && arg !== null && !Buffer.isBuffer(arg)

/** Checks what every statement of this process that writes is bound to. */
export function watchBoundNumbers(): void {
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'))
  if (Object.hasOwn(statement, 'isWatched')) return
  for (const method of ['run', 'get', 'all', 'iterate'] as const) {
    const original = statement[method] as (...args: unknown[]) => unknown
    statement[method] = function watched(this: Database.Statement, ...args: unknown[]): unknown {
      if (!this.readonly) assertWhole(this.source, args)
      return original.apply(this, args)
    }
  }
  statement.isWatched = true
}
