/** Verifies that the stored figures equal those computed from the facts, while the server keeps running. */
import { statSync } from 'node:fs'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openSerial } from '../../limiter.ts'
import { removeCopy } from '../../store/backup/copies.ts'
import { isFull } from '../../store/sqlite_errors.ts'
import type { Store } from '../../store/store.ts'
import { compareFile, type VerifyProgress, type VerifyResult } from './comparison.ts'

const MEGABYTE = 1_048_576
/** The maximum size of the write-ahead log, which grows with each commit while the file is read in one snapshot. */
const MAX_LOG_BYTES = 256 * MEGABYTE
const LOG_CHECK_MS = 100

type Deps = {
  store: Pick<Store, 'file' | 'copy' | 'bytes' | 'assertFreeSpaceFor'>
  clock: Clock
  formula: number
  /** The maximum size of the log. */
  max_log_bytes?: number | undefined
}

export type Verification = ReturnType<typeof openVerification>

/** Only the process that holds the lock may open this, because opening removes the copies that a crash left. */
export function openVerification({ store, clock, formula, max_log_bytes = MAX_LOG_BYTES }: Deps) {
  const copy = `${store.file}.verifying`
  const closing = new AbortController()
  const verifications = openSerial()
  let comparing: Promise<VerifyResult> | null = null
  let progress: VerifyProgress | null = null
  removeCopies()

  /**
   * Compares the figures in a copy of the database with its facts, on a thread. If there is no disk space for a copy, reads
   * the database in place. Verifications run one at a time.
   *
   * @throws Refusal 507 `no_room` if there is no space for a copy and the write-ahead log grows too long meanwhile; 503
   * `store_closing` if the store is closed meanwhile.
   */
  const verify = (): Promise<VerifyResult> => verifications.run(run)

  async function run(): Promise<VerifyResult> {
    closing.signal.throwIfAborted()
    try {
      return (await tryCopy()) ? await compare(copy, closing.signal) : await compareInPlace()
    } finally {
      progress = null
      removeCopies()
    }
  }

  /** Copies the database. Returns false if there is no disk space. */
  async function tryCopy(): Promise<boolean> {
    try {
      store.assertFreeSpaceFor(store.bytes())
      await store.copy(copy)
      return true
    } catch (error) {
      if (isFull(error) || (error instanceof Refusal && error.code === 'no_room')) return false
      throw error
    }
  }

  async function compareInPlace(): Promise<VerifyResult> {
    const tooLong = new AbortController()
    const checkLog = (): void => {
      const { size } = statSync(`${store.file}-wal`, { throwIfNoEntry: false }) ?? { size: 0 }
      if (size >= max_log_bytes) tooLong.abort(noRoom(store.bytes()))
    }
    checkLog()
    const timer = setInterval(checkLog, LOG_CHECK_MS).unref()
    try {
      return await compare(store.file, AbortSignal.any([closing.signal, tooLong.signal]))
    } finally {
      clearInterval(timer)
    }
  }

  async function compare(file: string, signal: AbortSignal): Promise<VerifyResult> {
    const onProgress = (next: VerifyProgress): void => {
      progress = next
    }
    comparing = compareFile({ file, at: clock(), formula, signal, onProgress })
    try {
      return await comparing
    } finally {
      comparing = null
    }
  }

  function removeCopies(): void {
    removeCopy(copy)
    removeCopy(`${copy}.partial`)
  }

  /** Aborts the current verification and refuses later verifications. The store ends a copy in progress. */
  async function close(): Promise<void> {
    closing.abort(new Refusal(503, 'store_closing', 'the server is stopping; no difference was found so far'))
    await comparing?.catch(() => {})
  }

  return { verify, progress: (): VerifyProgress | null => progress, close }
}

function noRoom(bytes: number): Refusal {
  const needed = Math.ceil(bytes / MEGABYTE)
  return new Refusal(
    507,
    'no_room',
    `there is no room for a copy of the database (${needed} MB), and its log grew too long while it was read in place. ` +
      'Free disk space, or back up to another disk and verify the backup: windfall backup FILE, windfall verify FILE',
  )
}
