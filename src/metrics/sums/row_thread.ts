/** A worker thread that sums the rows of many subscriptions, so that the main thread keeps serving. */
import { once } from 'node:events'
import { isMainThread, parentPort, type Worker, workerData } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { openSerial } from '../../limiter.ts'
import { startThread } from '../../program/threads.ts'
import { openReader } from '../../store/reader.ts'
import { openRowReader, type RowSums } from './row_sums.ts'
import type { SumQuery } from './tallies.ts'

type ThreadData = { windfall: 'rows'; file: string }

/** Reading ten million rows takes about a minute. */
const QUERY_LIMIT_MS = 120_000

/** Reads the database `file`, one query at a time. The first query starts the thread, and `close` ends it. */
export function openRowThread(file: string, limit_ms = QUERY_LIMIT_MS) {
  let thread: Worker | null = null
  const queue = openSerial()
  const closed = new AbortController()

  /**
   * Sums the lineages whose users have the query’s attribute, in one snapshot of the database.
   *
   * @throws Refusal 503 `too_slow` after two minutes, 503 `store_closing` after `close`.
   */
  const sumByAttribute = (query: SumQuery): Promise<RowSums> => queue.run(() => request(query))

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
    const data: ThreadData = { windfall: 'rows', file }
    const worker = startThread(import.meta.url, data)
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

  /** Ends the thread. Refuses all pending queries, including a query whose answer arrives while the thread ends. */
  async function close(): Promise<void> {
    closed.abort()
    await thread?.terminate()
    await queue.idle()
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

function isThreadData(data: unknown): data is ThreadData {
  return typeof data === 'object' && data !== null && 'windfall' in data && data.windfall === 'rows'
}

/** Runs on the thread and answers each query with its sums. An error ends the thread. */
function serve(file: string): void {
  const reader = openReader(file)
  if (reader === null) throw new Error(`${file} is gone`)
  const rows = openRowReader(reader)
  parentPort?.on('message', (query: SumQuery) =>
    parentPort?.postMessage(reader.atOnce(() => rows.sumByAttribute(query))),
  )
}

if (!isMainThread && isThreadData(workerData)) serve(workerData.file)
