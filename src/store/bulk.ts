/** What we remember: a run of bulk work: its pieces are kept in their order, and none after one that failed. */
import type { Store } from './store.ts'

/**
 * Opens a run of bulk work. Pieces are handed in without waiting for the ones before, so that one transaction holds
 * many of them. As soon as a piece throws, or its batch could not be written, those after it do nothing: the last
 * piece may therefore write down that the run is done. `most_waiting`: so many pieces wait at once; 256 are more than a
 * batch holds.
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
      // The next piece may be in the same batch, before the store says how this one ended.
      hasFailed = true
      throw error
    }
  }

  /**
   * Hands in the next piece. Resolves when there is room for another.
   *
   * @throws the first failure of the run so far.
   */
  async function add(work: () => void): Promise<void> {
    assertNotFailed()
    waiting.push(commitBulk(() => run(work)).catch(fail))
    if (waiting.length >= maxWaiting) await waiting.shift()
  }

  /**
   * Resolves when all that was handed in is on disk.
   *
   * @throws the first failure of the run.
   */
  async function finish(): Promise<void> {
    await Promise.all(waiting.splice(0))
    assertNotFailed()
  }

  return { add, finish }
}
