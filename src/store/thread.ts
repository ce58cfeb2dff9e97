/** Runs work that would block the event loop on a worker thread, which loads the file that requested it. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** A task for a thread. `windfall` is its name, unique in the bundle, where all files are one. */
type Task = { windfall: string }

/** A message from a thread: its progress, and finally its result. */
type Message<Result, Progress> = { result: Result } | { progress: Progress }

/**
 * Runs `task` on a thread that loads the file at `url`, which calls `onThread`, and resolves with its result.
 * `onProgress` receives the progress that the task reports.
 *
 * @throws what the task threw; the reason of `signal` when it aborts.
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
    let fault: unknown = new Error(`the thread for ${task.windfall} ended without a result`)
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
 * Runs the task `name` if this file was loaded on a thread for it; otherwise does nothing. `act` reports progress to
 * the caller of `runOnThread` with `reportProgress`.
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
        // Thrown outside of the promise, so that the worker emits it as its error.
        queueMicrotask(() => {
          throw error
        })
      },
    )
}

const isTask = <Given extends Task>(data: unknown, name: string): data is Given =>
  typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === name
