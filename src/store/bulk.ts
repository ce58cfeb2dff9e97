/** A sequence of bulk units of work that are committed in order. After one fails, the later ones do nothing. */
import type { Store } from './store.ts'

/**
 * Opens a sequence of bulk units of work. A unit is added without waiting for the previous ones, so that one
 * transaction contains many. After a unit throws, or its batch cannot be written, the later units do nothing; so the
 * last unit may record that the sequence is complete. `maxWaiting` is the maximum number of uncommitted units. The
 * default of 256 exceeds the size of a batch.
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
      // The next unit may run in the same batch, before the promise of this one rejects.
      hasFailed = true
      throw error
    }
  }

  /**
   * Adds the next unit of work. Resolves when fewer than `maxWaiting` units are uncommitted.
   *
   * @throws the first failure of the sequence so far.
   */
  async function add(work: () => void): Promise<void> {
    assertNotFailed()
    waiting.push(commitBulk(() => run(work)).catch(fail))
    if (waiting.length >= maxWaiting) await waiting.shift()
  }

  /**
   * Resolves when every added unit is on disk.
   *
   * @throws the first failure of the sequence.
   */
  async function finish(): Promise<void> {
    await Promise.all(waiting.splice(0))
    assertNotFailed()
  }

  return { add, finish }
}
