/** Runs pending erasures one after the other, until the write-ahead log has no data of erased users either. */
import type { Log } from '../../log.ts'
import type { Erasure, openErasureRecords } from './erasure_records.ts'
import type { openLogErasure } from './log_erasure.ts'

type Deps = {
  records: Pick<ReturnType<typeof openErasureRecords>, 'next'>
  logErasure: ReturnType<typeof openLogErasure>
  /** Removes the user of an erasure from all rows. */
  scrub: (erasure: Erasure) => Promise<void>
  signal: AbortSignal
  log: Log
  wait: (ms: number) => Promise<void>
}

/** How often, and at which interval, a run tries to clean the log while a reader uses it. */
const LOG_ATTEMPTS = 50
const LOG_RETRY_MS = 100
/** The interval of further runs while a reader uses the log. */
const RUN_AGAIN_MS = 5_000

/** Opens the runs. They end when `signal` aborts. */
export function openErasureRun({ records, logErasure, scrub, signal, log, wait }: Deps) {
  let running: Promise<void> | null = null
  let retryTimer: NodeJS.Timeout | undefined
  signal.addEventListener('abort', () => clearTimeout(retryTimer))

  /**
   * Resolves when all erasures are done, or when only the log has data of erased users and a reader keeps it in use; the
   * next run starts by itself then. Joins a run that is in progress. Rejects with the error that ended the run.
   */
  function run(): Promise<void> {
    running ??= runAll().finally(() => {
      running = null
    })
    return running
  }

  async function runAll(): Promise<void> {
    for (let attempt = 1; attempt <= LOG_ATTEMPTS; attempt += 1) {
      for (let erasure = records.next(); erasure !== null; erasure = records.next()) {
        signal.throwIfAborted()
        await scrub(erasure)
        await logErasure.clean()
      }
      if (await isLogClean()) return
      await wait(LOG_RETRY_MS)
      signal.throwIfAborted()
    }
    if (retryTimer === undefined) logErasure.warnPending()
    retryTimer = setTimeout(resume, RUN_AGAIN_MS).unref()
  }

  async function isLogClean(): Promise<boolean> {
    clearTimeout(retryTimer)
    if (logErasure.isPending()) await logErasure.clean()
    if (logErasure.isPending()) return false
    retryTimer = undefined
    return true
  }

  /** Runs in the background. A failure is logged, and the next run repeats the work. */
  function resume(): void {
    run().catch((error) => {
      if (!signal.aborted) log.error('erasing a user failed; it will be retried later', { error })
    })
  }

  /** Resolves when no run is in progress. */
  const ended = async (): Promise<void> => void (await running?.catch(() => {}))

  return { run, resume, ended }
}
