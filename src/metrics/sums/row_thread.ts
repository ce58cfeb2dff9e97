/** A worker thread that sums the rows of many subscriptions, so that the main thread keeps serving. */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { openSerial } from '../../limiter.ts'
import { openReader } from '../../store/reader.ts'
import { openRowReader, type RowSums } from './row_sums.ts'
import type { SumQuery } from './tallies.ts'

type Task = { windfall: 'rows'; file: string }

/** Reading ten million rows takes about a minute. */
const LIMIT_MS = 120_000

/** Reads the database `file`, one query at a time. The thread starts with the first query and ends with `close`. */
export function openRowThread(file: string, limit_ms = LIMIT_MS) {
  let thread: Worker | null = null
  const readings = openSerial()
  const closed = new AbortController()

  /**
   * The sums of lineages whose users have the query’s attribute, as of one instant.
   *
   * @throws Refusal 503 `too_slow` after two minutes, 503 `store_closing` after `close`.
   */
  const sumByAttribute = (query: SumQuery): Promise<RowSums> => readings.run(() => request(query))

  async function request(query: SumQuery): Promise<RowSums> {
    const worker = startWorker()
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(limit_ms)])
    const answer: Promise<RowSums[]> = once(worker, 'message', { signal })
    worker.ref()
    worker.postMessage(query)
    try {
      const [sums] = await answer
      return sums as RowSums
    } catch (error) {
      if (!signal.aborted) throw error
      end(worker)
      throw closed.signal.aborted ? closing() : tooSlow(limit_ms)
    } finally {
      worker.unref()
    }
  }

  function startWorker(): Worker {
    if (closed.signal.aborted) throw closing()
    if (thread !== null) return thread
    const task: Task = { windfall: 'rows', file }
    const worker = new Worker(new URL(import.meta.url), { workerData: task })
    // `request` reports the error to its caller; the next query starts a new thread.
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

  /** Refuses pending queries, also one whose answer arrives while the thread ends, and ends the thread. */
  async function close(): Promise<void> {
    closed.abort()
    await thread?.terminate()
    await readings.idle()
  }

  return { sumByAttribute, close }
}

const tooSlow = (limit_ms: number): Refusal =>
  new Refusal(
    503,
    'too_slow',
    `the subscriptions of these users could not be read within ${limit_ms / 1000} seconds; request fewer apps`,
  )
const closing = (): Refusal => new Refusal(503, 'store_closing', 'the server is stopping')

function isTask(data: unknown): data is Task {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'rows'
}

/** Runs on the thread: answers each query with its sums. An error ends the thread. */
function serve(file: string): void {
  const reader = openReader(file)
  if (reader === null) throw new Error(`${file} is gone`)
  const rows = openRowReader(reader)
  parentPort?.on('message', (query: SumQuery) =>
    parentPort?.postMessage(reader.atOnce(() => rows.sumByAttribute(query))),
  )
}

if (!isMainThread && isTask(workerData)) serve(workerData.file)
