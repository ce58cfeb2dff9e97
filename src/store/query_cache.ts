/** Caches the results of queries on tables that seldom change, until one of them does. */
import type { Database } from 'better-sqlite3'

/** Bounds of the cache, because clients choose some keys. A full cache is cleared; longer keys are not cached. */
const MAX_ENTRIES = 1_000
const MAX_KEY_LENGTH = 256
const CHANGES = ['insert', 'update', 'delete'] as const

/**
 * Opens the cache. Temporary triggers on this connection clear the entries when a table from which they were read
 * changes, so writers need not invalidate entries.
 */
export function openQueryCache(db: Database) {
  const listenersByTable = new Map<string, (() => void)[]>()
  db.function('windfall_changed', { directOnly: false }, (table) => {
    for (const drop of listenersByTable.get(String(table)) ?? []) drop()
    return null
  })
  /** The number of the current batch, whose changes may still be rolled back. */
  let batchNumber = 0

  function watch(table: string, drop: () => void): void {
    const listeners = listenersByTable.get(table)
    if (listeners) return void listeners.push(drop)
    listenersByTable.set(table, [drop])
    for (const change of CHANGES) {
      db.exec(`create temp trigger ${table}_${change} after ${change} on main.${table}
        begin select windfall_changed('${table}'); end`)
    }
  }

  /**
   * Caches the results of `load` by key, at most `max`, until a row of `tables` changes. In the rest of the batch that
   * changed a row, nothing is cached, because the change may be rolled back. Results are shared between callers: do not
   * modify them.
   */
  function cached<Value>(
    tables: readonly string[],
    load: (key: string) => Value,
    max = MAX_ENTRIES,
  ): (key: string) => Value {
    const entries = new Map<string, { answer: Value }>()
    let changedInBatch: number | null = null
    const drop = () => {
      entries.clear()
      changedInBatch = batchNumber
    }
    for (const table of tables) watch(table, drop)
    return (key) => {
      const cachedEntry = entries.get(key)
      if (cachedEntry) return cachedEntry.answer
      const answer = load(key)
      const isCommitted = changedInBatch !== batchNumber || !db.inTransaction
      if (!isCommitted || key.length > MAX_KEY_LENGTH) return answer
      if (entries.size >= max) entries.clear()
      entries.set(key, { answer })
      return answer
    }
  }

  /** Begins the next batch. Call it between batches. */
  function afterBatch(): void {
    batchNumber += 1
  }

  return { cached, afterBatch }
}
