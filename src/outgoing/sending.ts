/** Begins and cancels requests, and says why one has no response. */
import { type Failure, failureOf, OutgoingError } from './failures.ts'
import { parseTarget } from './target.ts'

/** `timeoutMs`: milliseconds until the status line must have arrived, by default 15,000. */
export type Cancelled = Readonly<{ signal?: AbortSignal | undefined; timeoutMs?: number | undefined }>

/** A request in progress. `end` is called once, at its end. */
type Running = Readonly<{ signal: AbortSignal; stopTimer: () => void; end: () => void }>

const STATUS_TIMEOUT_MS = 15_000

export type Send = ReturnType<typeof openSending>['send']

/** Opens the sending of requests. `close` cancels those in progress, and later ones. */
export function openSending() {
  const cancelling = openCancelling()

  /**
   * Sends a request with `work`, which ends the running request if it succeeds.
   *
   * @throws the reason of `signal` when it aborts before `work` has ended; an Error after `close` or for an invalid header
   */
  async function send<Result>(
    { url, ...cancelled }: Cancelled & Readonly<{ url: string }>,
    work: (url: URL, running: Running) => Promise<Result>,
  ): Promise<Result | Failure> {
    const target = parseTarget(url)
    if ('refusal' in target) return { kind: 'address', words: target.refusal }
    const running = cancelling.begin(cancelled, target.url.host)
    try {
      return await work(target.url, running)
    } catch (error) {
      running.end()
      cancelled.signal?.throwIfAborted()
      cancelling.throwIfClosed()
      return failureOf(error, target.url.host)
    }
  }

  return { send, close: cancelling.close }
}

/**
 * Cancels requests: each after its timeout or when its own signal aborts, and all at the end. `AbortSignal.any` would do
 * the same, but its signals stay in memory until the next full garbage collection.
 */
function openCancelling() {
  const running = new Set<AbortController>()
  let closed: Error | null = null

  function begin({ signal, timeoutMs = STATUS_TIMEOUT_MS }: Cancelled, host: string) {
    const controller = new AbortController()
    const late = () =>
      new OutgoingError('timeout', `${host} did not answer within ${timeoutMs / 1000} seconds.`)
    const timer = setTimeout(() => controller.abort(late()), timeoutMs)
    const stopTimer = (): void => clearTimeout(timer)
    const follow = (): void => controller.abort(signal?.reason)
    signal?.addEventListener('abort', follow, { once: true })
    running.add(controller)
    if (signal?.aborted) follow()
    if (closed) controller.abort(closed)

    function end(): void {
      stopTimer()
      signal?.removeEventListener('abort', follow)
      running.delete(controller)
    }

    return { signal: controller.signal, stopTimer, end }
  }

  function throwIfClosed(): void {
    if (closed) throw closed
  }

  function close(reason: Error): void {
    closed = reason
    for (const controller of running) controller.abort(reason)
  }

  return { begin, throwIfClosed, close }
}
