/** Keeps the newest entries of a map, so that strangers cannot fill the memory. */

/** Sets an entry at the end of the map. Of more than `most` entries, the one that was set longest ago is dropped. */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
