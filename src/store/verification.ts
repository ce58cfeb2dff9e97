/**
 * What we remember: whether a copy is whole, found out on a thread of its own, because that reads every page of it,
 * and nobody's request should wait meanwhile.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { schemaVersion } from './schema.ts'

type Task = { windfall: 'verify'; file: string }

/** Rows of every table. */
export type Rows = Record<string, number>

/**
 * Row counts of every table of the copy `file`, once integrity, foreign keys and version are right.
 *
 * @throws Error saying what is wrong with the copy; the reason of `signal` when that ends it, and then the file is let go.
 */
export function verify(file: string, signal: AbortSignal): Promise<Rows> {
  const task: Task = { windfall: 'verify', file }
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(new URL(import.meta.url), { workerData: task })
    const end = (): void => void worker.terminate()
    let rows: Rows | undefined
    let fault: unknown = new Error('the copy could not be verified: the thread ended')
    signal.addEventListener('abort', end)
    worker.on('message', (found: Rows) => {
      rows = found
    })
    worker.on('error', (error) => {
      fault = error
    })
    worker.on('exit', () => {
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else if (rows === undefined) reject(fault)
      else resolve(rows)
    })
  })
}

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'verify'
}

function verified(file: string): Rows {
  const copy = new Database(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
    const integrity = copy.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') throw new Error(`the copy is damaged: ${integrity}`)
    const orphans = copy.pragma('foreign_key_check')
    if (Array.isArray(orphans) && orphans.length > 0)
      throw new Error(`the copy has ${orphans.length} broken references`)
    const version = copy.pragma('user_version', { simple: true })
    if (version !== schemaVersion) throw new Error(`the copy has shape ${version}, not ${schemaVersion}`)
    return counts(copy)
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
