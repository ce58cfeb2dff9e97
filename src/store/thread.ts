/** Runs work that would block the event loop on a worker thread. The thread loads the file that requests the work. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { startThread } from '../program/threads.ts'

/** A task for a thread. `windfall` is its name, unique in the program, because worker.cjs has all tasks in one file. */
type Task = { windfall: string }

/** A message from a thread: the progress of its task, or at the end the result. */
type Message<Result, Progress> = { result: Result } | { progress: Progress }

/**
 * Runs `task` on a new thread and resolves with the result. The thread loads the file at `url`, which must call
 * `onThread`. `onProgress` receives the progress that the task reports.
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
    const worker = startThread(url, task)
    const end = (): void => void worker.terminate()
    let resultMessage: { result: Result } | undefined
    let fault: unknown = new Error(`the thread for ${task.windfall} ended without a result`)
    signal.addEventListener('abort', end)
    worker.on('message', (message: Message<Result, Progress>) => {
      if ('progress' in message) onProgress(message.progress)
      else resultMessage = message
    })
    worker.on('error', (error) => {
      fault = error
    })
    worker.on('exit', () => {
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else if (resultMessage === undefined) reject(fault)
      else resolve(resultMessage.result)
    })
  })
}

/**
 * Runs the task `name` with `runTask` if this file was loaded on a thread for that task; otherwise does nothing.
 * `runTask` reports progress to the caller of `runOnThread` with `reportProgress`.
 */
export function onThread<Given extends Task, Progress = never>(
  name: string,
  runTask: (task: Given, reportProgress: (progress: Progress) => void) => unknown,
): void {
  const port = parentPort
  if (isMainThread || port === null || !isTask<Given>(workerData, name)) return
  Promise.resolve()
    .then(() => runTask(workerData as Given, (progress) => port.postMessage({ progress })))
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
