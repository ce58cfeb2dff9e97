/** Runs work for many items with limited concurrency. */

/**
 * Runs `work` for every item, at most `concurrency` at a time. After the first error, running items finish, no other
 * item starts, and the error is thrown.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items.values()
  let hasFailed = false

  async function worker(): Promise<void> {
    for (const item of remaining) {
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
  for (const workerResult of workers) if (workerResult.status === 'rejected') throw workerResult.reason
}
