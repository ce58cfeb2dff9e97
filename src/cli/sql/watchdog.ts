/** Ends the process of a query when its parent ends, because then nothing else ends a long query. */
import { Worker } from 'node:worker_threads'

/** What the thread runs. The main thread cannot look: it is inside SQLite until the next row. */
const WATCH = `
  const { workerData: parent } = require('node:worker_threads')
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  }, 200)`

/** Starts the thread that ends this process within a second after its parent, the process `parent`, has ended. */
export function endWithParent(parent: number): void {
  new Worker(WATCH, { eval: true, workerData: parent }).unref()
}
