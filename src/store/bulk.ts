/** Runs of bulk work: pieces are committed in order, and none after a failed one. */
import type { Store } from './store.ts'

/**
 * Opens a run of bulk work. Pieces are added without waiting for previous ones, so that one transaction holds many.
 * After a piece throws, or its batch cannot be written, the pieces after it do nothing; so the last piece may record
 * that the run is complete. `maxWaiting` is the maximum number of waiting pieces; 256 are more than a batch holds.
 */
export function openBulk({ commitBulk }: Pick<Store, 'commitBulk'>, maxWaiting = 256) {
  const waiting: Promise<void>[] = []
  let hasFailed = false
  let failure: { error: unknown } | null = null

  function fail(error: unknown): void {
    hasFailed = true
    failure ??= { error }
  }

  function assertNotFailed(): void {
    if (failure !== null) throw failure.error
  }

  function run(work: () => void): void {
    if (hasFailed) return
    try {
      work()
    } catch (error) {
      // The next piece may run in the same batch, before this promise rejects.
      hasFailed = true
      throw error
    }
  }

  /**
   * Adds the next piece. Resolves when there is room for another.
   *
   * @throws the first failure of the run so far.
   */
  async function add(work: () => void): Promise<void> {
    assertNotFailed()
    waiting.push(commitBulk(() => run(work)).catch(fail))
    if (waiting.length >= maxWaiting) await waiting.shift()
  }

  /**
   * Resolves when every added piece is on disk.
   *
   * @throws the first failure of the run.
   */
  async function finish(): Promise<void> {
    await Promise.all(waiting.splice(0))
    assertNotFailed()
  }

  return { add, finish }
}
