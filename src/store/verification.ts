/**
 * What we remember: whether a copy is whole, found out on a thread of its own, because that reads every page of it,
 * and nobody's request should wait meanwhile.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

type Task = { windfall: 'verify'; file: string }

/** Rows of every table. */
export type Rows = Record<string, number>

/** A sound database: its version, and how many rows each table has. */
export type Sound = { version: number; rows: Rows }

/**
 * Examines the copy `file`: its integrity and its references. Leaves it in the journal mode `delete`, so that it is one
 * file.
 *
 * @throws Error saying what is wrong with the copy; the reason of `signal` when that ends it, and then the file is let go.
 */
export function verify(file: string, signal: AbortSignal): Promise<Sound> {
  const task: Task = { windfall: 'verify', file }
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(new URL(import.meta.url), { workerData: task })
    const end = (): void => void worker.terminate()
    let sound: Sound | undefined
    let fault: unknown = new Error('the copy could not be verified: the thread ended')
    signal.addEventListener('abort', end)
    worker.on('message', (found: Sound) => {
      sound = found
    })
    worker.on('error', (error) => {
      fault = error
    })
    worker.on('exit', () => {
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else if (sound === undefined) reject(fault)
      else resolve(sound)
    })
  })
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'verify'
}

function verified(file: string): Sound {
  const copy = new Database(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
    const integrity = copy.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') throw new Error(`the copy is damaged: ${integrity}`)
    const orphans = copy.pragma('foreign_key_check')
    if (Array.isArray(orphans) && orphans.length > 0)
      throw new Error(`the copy has ${orphans.length} broken references`)
    return { version: Number(copy.pragma('user_version', { simple: true })), rows: counts(copy) }
  } finally {
    copy.close()
  }
}

function counts(db: Database.Database): Rows {
  const tables = db
    .prepare<[], { name: string }>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [name, Number(db.prepare(`select count(*) from "${name}"`).pluck().get())]),
  )
}

if (!isMainThread && parentPort && isTask(workerData)) parentPort.postMessage(verified(workerData.file))
