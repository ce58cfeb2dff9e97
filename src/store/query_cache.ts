/** What we remember: what every request asks small tables for, held in memory until one of them changes. */
import type { Database } from 'better-sqlite3'

/** Keys come from outside too: past so many, all is asked anew, and a longer one every time. */
const MAX_ENTRIES = 1_000
const MAX_KEY_LENGTH = 256
const CHANGES = ['insert', 'update', 'delete'] as const

/**
 * Gives `remembering`, whose answers are kept in memory. Triggers of this connection alone drop them at any change of
 * the tables they were read from, so that no writer has to think of it.
 */
export function openQueryCache(db: Database) {
  const dropping = new Map<string, (() => void)[]>()
  db.function('windfall_changed', { directOnly: false }, (table) => {
    for (const drop of dropping.get(String(table)) ?? []) drop()
    return null
  })
  /** Counts the batches: what was changed in the present one may yet be undone. */
  let batch = 0

  function watch(table: string, drop: () => void): void {
    const watching = dropping.get(table)
    if (watching) return void watching.push(drop)
    dropping.set(table, [drop])
    for (const change of CHANGES) {
      db.exec(`create temp trigger ${table}_${change} after ${change} on main.${table}
        begin select windfall_changed('${table}'); end`)
    }
  }

  /**
   * The answers of `load` by its key, at most so many, kept until a row of `tables` changes. Within a batch that changed one, none is
   * kept, since what was read may yet be undone. What is returned is shared by all who ask and must not be changed.
   */
  function cached<Value>(
    tables: readonly string[],
    load: (key: string) => Value,
    max = MAX_ENTRIES,
  ): (key: string) => Value {
    const entries = new Map<string, { answer: Value }>()
    let changedIn: number | null = null
    const drop = () => {
      entries.clear()
      changedIn = batch
    }
    for (const table of tables) watch(table, drop)
    return (key) => {
      const known = entries.get(key)
      if (known) return known.answer
      const answer = load(key)
      const isCertain = changedIn !== batch || !db.inTransaction
      if (!isCertain || key.length > MAX_KEY_LENGTH) return answer
      if (entries.size >= max) entries.clear()
      entries.set(key, { answer })
      return answer
    }
  }

  /** To be called between batches. */
  function afterBatch(): void {
    batch += 1
  }

  return { cached, afterBatch }
}
