/** Starts worker threads, in each form of the program. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { asset, assetFile } from './assets.ts'
import { form } from './form.ts'

/**
 * Starts a thread with `workerData`. From the sources the thread loads the file at `url`. Otherwise it loads
 * `worker.cjs`, which contains the code of all threads (src/threads.ts), so each file must look at `workerData`.
 */
export function startThread(url: string, workerData: WorkerOptions['workerData']): Worker {
  if (form === 'sources') return new Worker(new URL(url), { workerData })
  if (form === 'bundle') return new Worker(assetFile('worker.cjs'), { workerData })
  return new Worker(asset('worker.cjs'), { eval: true, workerData })
}
