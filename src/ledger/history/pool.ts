/** Runs the same work for many items, a few at a time. */

/**
 * Runs `work` for every item, at most `concurrency` at a time. On the first error, running items finish, no other
 * starts, and the error is thrown.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  concurrency: number,
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

  const workers = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  for (const settled of workers) if (settled.status === 'rejected') throw settled.reason
}
