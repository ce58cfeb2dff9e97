/** What we remember: the things asked for most recently, and no more of them than a bound. */

/** A map of at most `limit` entries; what was read or written longest ago makes room. */
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

  /** The same key again and again is the usual case; to compare a long one is cheaper than to hash it. */
  function get(key: string): Value | undefined {
    if (newest?.key === key) return newest.value
    const value = entries.get(key)
    if (value !== undefined) set(key, value)
    return value
  }

  return { get, set }
}
