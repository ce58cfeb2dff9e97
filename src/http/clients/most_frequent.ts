/**
 * Finds the most frequent of any number of names in bounded memory, by the algorithm SpaceSaving (Metwally, Agrawal and
 * El Abbadi, 2005): a new name takes the place of the least frequent one, and its count, which may be wrong by that much.
 */

/** Opens the counts of at most `max` names. */
export function openMostFrequent(max: number) {
  const entries = new Map<string, { count: number; error: number }>()

  function note(name: string): void {
    const known = entries.get(name)
    if (known !== undefined) known.count += 1
    else if (entries.size < max) entries.set(name, { count: 1, error: 0 })
    else replaceLeast(name)
  }

  function replaceLeast(name: string): void {
    let [least, least_count] = ['', Number.POSITIVE_INFINITY]
    for (const [one, { count }] of entries) if (count < least_count) [least, least_count] = [one, count]
    entries.delete(least)
    entries.set(name, { count: least_count + 1, error: least_count })
  }

  /** How often each name was noted, at least. Exact while there were at most `max` names. */
  const counts = (): [name: string, calls: number][] =>
    [...entries].map(([name, { count, error }]) => [name, count - error])

  return { note, counts }
}
