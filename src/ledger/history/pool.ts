/** What we compute: the same work for many things, a few at a time. */

/**
 * Does `work` for every item, at most `at_once` of them together. The first error lets those under way end, begins no
 * other, and is thrown.
 */
export async function forEachOf<Item>(
  items: readonly Item[],
  at_once: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  let hasFailed = false

  async function lane(): Promise<void> {
    for (const item of rest) {
      if (hasFailed) return
      try {
        await work(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }

  const lanes = await Promise.allSettled(Array.from({ length: at_once }, lane))
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason
}
