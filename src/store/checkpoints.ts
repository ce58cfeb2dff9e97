/**
 * What we remember: moving the write-ahead log into the database, on a thread of its own, because a checkpoint
 * writes thousands of pages and waits twice for the disk, and nobody's request should wait with it.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { assertDurable } from './durable.ts'
import { atMostEvery, reasonOf, silent, type Warn } from './warnings.ts'

type Task = { windfall: 'checkpoint'; file: string }

/** What the thread answers: null, or why the checkpoint failed. */
type Answer = string | null

/** Pages in the log, and how many of them are in the database already. */
type Frames = { busy: number; log: number; checkpointed: number }

/** Four megabytes: 1,000 pages, where SQLite itself would begin. */
const BEGIN_AT_BYTES = 4 * 1024 * 1024

/** The log starts again long before, unless somebody reads what is in it. */
const TOO_LONG_BYTES = 64 * 1024 * 1024

const LOOK_EVERY_BATCHES = 16
const WARN_EVERY_MS = 60_000

/**
 * Watches the write-ahead log of `file`. `afterBatch` is to be called between transactions and never throws: what
 * fails here is safe in the log, is told, and is tried again. When so much was written since the last time that it
 * is worth it, the thread is woken, and when that has done the bulk, the short rest is moved on `main`, so that the
 * log can start again at its beginning.
 */
export function openCheckpoints(main: Database.Database, file: string, warn: Warn = silent) {
  const frameBytes = Number(main.pragma('page_size', { simple: true }))
  // Looks without doing anything.
  const look = main.prepare<[], Frames>('pragma wal_checkpoint(NOOP)')
  const move = main.prepare<[], Frames>('pragma wal_checkpoint(PASSIVE)')
  const tellFault = atMostEvery(WARN_EVERY_MS, warn)
  const tellHeld = atMostEvery(WARN_EVERY_MS, warn)
  let worker: Worker | null = null
  let running = false
  let bulkDone = false
  let batches = 0
  /** How long the log was after the last checkpoint, and how much of that is not to be tried again yet. */
  let last = { log: 0, stuck: 0 }

  function start(): Worker {
    const task: Task = { windfall: 'checkpoint', file }
    const started = new Worker(new URL(import.meta.url), { workerData: task })
    started.unref()
    started.on('message', (fault: Answer) => {
      running = false
      if (fault === null) bulkDone = true
      else failed(fault)
    })
    started.on('error', (error) => {
      running = false
      failed(reasonOf(error))
    })
    started.on('exit', () => {
      if (worker !== started) return
      worker = null
      if (running) failed('its thread ended')
      running = false
    })
    return started
  }

  /** Tried again when as much has been written as makes a checkpoint worth it. */
  function failed(reason: string): void {
    tellFault('the write-ahead log could not be moved into the database; nothing is lost', { reason })
    const log = length()
    last = { log, stuck: log }
  }

  function length(): number {
    try {
      return look.get()?.log ?? 0
    } catch {
      // Closed meanwhile, or the disk cannot be read either, of which every caller hears.
      return last.log
    }
  }

  function moveRest(): void {
    const { log, checkpointed } = move.get() ?? { log: 0, checkpointed: 0 }
    last = { log, stuck: checkpointed < log ? log : 0 }
  }

  function lookAtLog(): void {
    const { log, checkpointed } = look.get() ?? { log: 0, checkpointed: 0 }
    if (log > last.log && last.log * frameBytes > TOO_LONG_BYTES) {
      tellHeld('the write-ahead log cannot start again: somebody keeps reading the database', {
        bytes: log * frameBytes,
      })
    }
    // Shorter than it was: it has started again.
    const done = log < last.stuck ? checkpointed : Math.max(checkpointed, last.stuck)
    if ((log - done) * frameBytes < BEGIN_AT_BYTES) return
    worker ??= start()
    running = true
    worker.postMessage('checkpoint')
  }

  function afterBatch(): void {
    try {
      if (bulkDone) {
        bulkDone = false
        moveRest()
      } else if (++batches >= LOOK_EVERY_BATCHES && !running) {
        batches = 0
        lookAtLog()
      }
    } catch (error) {
      failed(reasonOf(error))
    }
  }

  async function close(): Promise<void> {
    const ending = worker
    worker = null
    await ending?.terminate()
  }

  return { afterBatch, close }
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'checkpoint'
}

/** The thread's side. Nothing happens when this file is loaded on the main thread. */
function serveCheckpoints(port: NonNullable<typeof parentPort>, task: Task): void {
  const db = new Database(task.file, { timeout: 1_000, fileMustExist: true })
  db.pragma('synchronous = full')
  assertDurable(db, ['journal_mode', 'synchronous'])
  port.on('message', () => port.postMessage(checkpoint(db)))
}

function checkpoint(db: Database.Database): Answer {
  try {
    db.pragma('wal_checkpoint(PASSIVE)')
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

if (!isMainThread && parentPort && isTask(workerData)) serveCheckpoints(parentPort, workerData)
