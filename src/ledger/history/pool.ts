/** What we compute: the same work for many things, a few at a time. */

/**
 * Does `work` for every item, at most `at_once` of them together. The first error lets those under way end, begins no
 * other, and is thrown.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  at_once: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  let hasFailed = false

  async function worker(): Promise<void> {
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

  const workers = await Promise.allSettled(Array.from({ length: at_once }, worker))
  for (const settled of workers) if (settled.status === 'rejected') throw settled.reason
}
