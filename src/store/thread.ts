/** Work on a thread of its own, for what would hold up the event loop. The thread runs the file that asked for it. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** What a thread is to do. `windfall` names it among the tasks of the bundle, where all files are one. */
type Task = { windfall: string }

/**
 * Runs `task` on a thread that loads the file at `url`, which calls `onThread` for it, and resolves with its result.
 *
 * @throws whatever the task threw; the reason of `signal` when that ends it.
 */
export function runOnThread<Result>(url: string, task: Task, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(new URL(url), { workerData: task })
    const end = (): void => void worker.terminate()
    let answer: { result: Result } | undefined
    let fault: unknown = new Error(`the thread that was to ${task.windfall} ended`)
    signal.addEventListener('abort', end)
    worker.on('message', (message: { result: Result }) => {
      answer = message
    })
    worker.on('error', (error) => {
      fault = error
    })
    worker.on('exit', () => {
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else if (answer === undefined) reject(fault)
      else resolve(answer.result)
    })
  })
}

/** Does the task of this name, when this file is loaded on a thread for it; nothing anywhere else. */
export function onThread<Given extends Task>(name: string, act: (task: Given) => unknown): void {
  const port = parentPort
  if (isMainThread || port === null || !isTask<Given>(workerData, name)) return
  Promise.resolve()
    .then(() => act(workerData as Given))
    .then(
      (result) => port.postMessage({ result }),
      (error: unknown) => {
        // Thrown outside of the promise, so that it arrives as the error of the thread.
        queueMicrotask(() => {
          throw error
        })
      },
    )
}

const isTask = <Given extends Task>(data: unknown, name: string): data is Given =>
  typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === name
