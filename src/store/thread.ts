/** Work on a thread of its own, for what would hold up the event loop. The thread runs the file that asked for it. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** What a thread is to do. `windfall` names it among the tasks of the bundle, where all files are one. */
type Task = { windfall: string }

/** What a thread says: how far it is, and at last its result. */
type Message<Result, Progress> = { result: Result } | { progress: Progress }

/**
 * Runs `task` on a thread that loads the file at `url`, which calls `onThread` for it, and resolves with its result.
 * `onProgress` gets what the task tells meanwhile.
 *
 * @throws whatever the task threw; the reason of `signal` when that ends it.
 */
export function runOnThread<Result, Progress = never>(
  url: string,
  task: Task,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(new URL(url), { workerData: task })
    const end = (): void => void worker.terminate()
    let answer: { result: Result } | undefined
    let fault: unknown = new Error(`the thread that was to ${task.windfall} ended`)
    signal.addEventListener('abort', end)
    worker.on('message', (message: Message<Result, Progress>) => {
      if ('progress' in message) onProgress(message.progress)
      else answer = message
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

/**
 * Does the task of this name, when this file is loaded on a thread for it; nothing anywhere else. What `act` hands to
 * `tell` is the progress that the caller of `runOnThread` gets.
 */
export function onThread<Given extends Task, Progress = never>(
  name: string,
  act: (task: Given, reportProgress: (progress: Progress) => void) => unknown,
): void {
  const port = parentPort
  if (isMainThread || port === null || !isTask<Given>(workerData, name)) return
  Promise.resolve()
    .then(() => act(workerData as Given, (progress) => port.postMessage({ progress })))
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
