/** What we remember: a thread that reads the rows of many subscriptions, beside the one that serves. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { openSerial } from '../../limiter.ts'
import { openReader } from '../../store/reader.ts'
import { openRowReader, type RowSums } from './row_sums.ts'
import type { SumQuery } from './tallies.ts'

type Task = { windfall: 'rows'; file: string }

/** A reading of ten million rows takes about a minute. */
const LIMIT_MS = 120_000

/** Reads the database `file`, one reading after another. The thread begins with the first, and ends with `close`. */
export function openRowThread(file: string, limit_ms = LIMIT_MS) {
  let thread: Worker | null = null
  const readings = openSerial()
  let isClosed = false

  /**
   * What subscriptions of users with the reading's attribute add, as of one instant.
   *
   * @throws Refusal 503 `too_slow` where that takes longer than two minutes, 503 `store_closing` after `close`.
   */
  const sumByAttribute = (query: SumQuery): Promise<RowSums> => readings.run(() => request(query))

  function request(query: SumQuery): Promise<RowSums> {
    const worker = startWorker()
    const { promise, resolve, reject } = Promise.withResolvers<RowSums>()
    const onExit = () => reject(closing())
    const limit = setTimeout(() => {
      reject(tooSlow(limit_ms))
      end(worker)
    }, limit_ms)
    worker.once('message', resolve).once('error', reject).once('exit', onExit)
    worker.ref()
    worker.postMessage(query)
    return promise.finally(() => {
      clearTimeout(limit)
      worker.off('message', resolve).off('error', reject).off('exit', onExit)
      worker.unref()
    })
  }

  function startWorker(): Worker {
    if (isClosed) throw closing()
    if (thread !== null) return thread
    const task: Task = { windfall: 'rows', file }
    const worker = new Worker(new URL(import.meta.url), { workerData: task })
    // What it failed of is told to who asked; who comes next begins another.
    worker.on('error', () => discardWorker(worker)).on('exit', () => discardWorker(worker))
    thread = worker
    return worker
  }

  function discardWorker(worker: Worker): void {
    if (thread === worker) thread = null
  }

  function end(worker: Worker): void {
    discardWorker(worker)
    void worker.terminate()
  }

  /** Ends the thread; who waits for it is refused. */
  async function close(): Promise<void> {
    isClosed = true
    await thread?.terminate()
    await readings.idle()
  }

  return { sumByAttribute, close }
}

const tooSlow = (limit_ms: number): Refusal =>
  new Refusal(
    503,
    'too_slow',
    `the subscriptions of these users could not be read within ${limit_ms / 1000} seconds; ask for fewer apps`,
  )
const closing = (): Refusal => new Refusal(503, 'store_closing', 'the server is stopping')

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'rows'
}

/** The thread's own code: answers each reading with its sums. What it throws ends it. */
function serve(file: string): void {
  const reader = openReader(file)
  if (reader === null) throw new Error(`${file} is gone`)
  const rows = openRowReader(reader)
  parentPort?.on('message', (query: SumQuery) =>
    parentPort?.postMessage(reader.atOnce(() => rows.sumByAttribute(query))),
  )
}

if (!isMainThread && isTask(workerData)) serve(workerData.file)
