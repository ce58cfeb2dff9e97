/**
 * What we remember: moving the write-ahead log into the database, on a thread of its own, because a checkpoint
 * writes thousands of pages and waits twice for the disk, and nobody's request should wait with it.
 */
import { statSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

type Task = { windfall: 'checkpoint'; file: string }

/** Four megabytes: 1,000 pages, where SQLite itself would begin. */
const BEGIN_AT_BYTES = 4 * 1024 * 1024

/**
 * Watches the write-ahead log of `file`. `afterBatch` is to be called between transactions; when the log has
 * grown it wakes the thread, and when the thread has done the bulk it moves the short rest on `main`, so that
 * the log can start again at its beginning.
 */
export function openCheckpoints(main: Database.Database, file: string) {
  const wal = `${file}-wal`
  let worker: Worker | null = null
  let running = false
  let bulkDone = false
  let batches = 0

  function start(): Worker {
    const task: Task = { windfall: 'checkpoint', file }
    const started = new Worker(new URL(import.meta.url), { workerData: task })
    started.unref()
    started.on('message', () => {
      running = false
      bulkDone = true
    })
    started.on('error', () => {
      running = false
      worker = null
    })
    return started
  }

  function afterBatch(): void {
    if (bulkDone) {
      bulkDone = false
      main.pragma('wal_checkpoint(PASSIVE)')
      return
    }
    if (running || ++batches < 16) return
    batches = 0
    if (sizeOf(wal) < BEGIN_AT_BYTES) return
    running = true
    worker ??= start()
    worker.postMessage('checkpoint')
  }

  async function close(): Promise<void> {
    await worker?.terminate()
    worker = null
  }

  return { afterBatch, close }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'checkpoint'
}

/** The thread's side. Nothing happens when this file is loaded on the main thread. */
function serveCheckpoints(port: NonNullable<typeof parentPort>, task: Task): void {
  const db = new Database(task.file, { timeout: 1_000, fileMustExist: true })
  db.pragma('synchronous = full')
  port.on('message', () => {
    db.pragma('wal_checkpoint(PASSIVE)')
    port.postMessage('done')
  })
}

if (!isMainThread && parentPort && isTask(workerData)) serveCheckpoints(parentPort, workerData)
