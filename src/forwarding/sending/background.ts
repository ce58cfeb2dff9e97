/** Runs work for endpoints that nobody waits for. */
import { setImmediate as nextTurn } from 'node:timers/promises'

export type Background = ReturnType<typeof openBackground>

type BackgroundHooks = {
  onProgress: (endpoint_id: string) => void
  onError: (endpoint_id: string, error: unknown) => void
}

/** Opens the background. `onProgress` is called after work that did something. */
export function openBackground({ onProgress, onError }: BackgroundHooks) {
  const running = new Set<Promise<void>>()

  /** `work` resolves to false if there was nothing to do; more work of that kind would repeat endlessly. */
  function run(endpoint_id: string, work: Promise<boolean>): void {
    const done: Promise<void> = work
      .then(
        (isProgress) => (isProgress ? onProgress(endpoint_id) : undefined),
        (error) => onError(endpoint_id, error),
      )
      .finally(() => running.delete(done))
    running.add(done)
  }

  const done = (): Promise<unknown> => Promise.allSettled(running)

  async function settled(isScheduled: () => boolean): Promise<void> {
    while (isScheduled() || running.size > 0) {
      await nextTurn()
      await done()
    }
  }

  return { run, done, settled }
}
