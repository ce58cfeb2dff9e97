/** A least-recently-used cache. */

/** Opens a map of at most `limit` entries, which drops the least recently used entry when full. */
export function openLruCache<Value>(limit: number) {
  const entries = new Map<string, Value>()
  let newest: { key: string; value: Value } | undefined

  function set(key: string, value: Value): void {
    entries.delete(key)
    entries.set(key, value)
    newest = { key, value }
    if (entries.size <= limit) return
    const [oldest] = entries.keys()
    if (oldest !== undefined) entries.delete(oldest)
  }

  /** Checks the newest entry first. Keys usually repeat, and comparing a long key is cheaper than hashing it. */
  function get(key: string): Value | undefined {
    if (newest?.key === key) return newest.value
    const value = entries.get(key)
    if (value !== undefined) set(key, value)
    return value
  }

  return { get, set }
}
