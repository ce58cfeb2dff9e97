/**
 * Sends one request and reads the beginning of its response. It uses undici’s handlers, because the streams of its other
 * functions cost more than the rest of a small request.
 */

import type { Dispatcher } from 'undici'
import { preciseTime } from '../clock.ts'

const EXCERPT_BYTES = 2048
const EXCERPT_TIMEOUT_MS = 1000

/** `excerpt` is the beginning of the body as text. `status_at`: when the status line arrived, by `preciseTime`. */
type Received = {
  status: number
  headers: Dispatcher.ResponseData['headers']
  excerpt: string
  status_at: number
}

/** `onStatus` is called when the status line arrived. */
type Watch = { signal: AbortSignal; onStatus: () => void }

/**
 * Sends a request. At most 2,048 bytes of the body are read, for at most a second; then the connection is closed. A body
 * that breaks off ends early.
 *
 * @throws the reason of `signal` if it aborts before the status line, or why there is no response
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { signal, onStatus }: Watch,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let started: Omit<Received, 'excerpt'> | null = null
    let connection: Dispatcher.DispatchController | null = null
    let timer: NodeJS.Timeout | undefined

    function end(error?: unknown): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      if (started === null) return reject(error)
      resolve({ ...started, excerpt: Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString() })
    }

    function stop(reason: Error): void {
      end(reason)
      connection?.abort(reason)
    }

    const abort = (): void => stop(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', abort, { once: true })
    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        connection = controller
        // The request was aborted before it had a connection.
        if (signal.aborted) controller.abort(signal.reason)
      },
      onResponseStart(_, status, headers) {
        if (status < 200) return
        started = { status, headers, status_at: preciseTime() }
        timer = setTimeout(() => stop(new Error('the body took too long')), EXCERPT_TIMEOUT_MS)
        onStatus()
      },
      onResponseData(_, chunk) {
        chunks.push(chunk)
        size += chunk.length
        if (size > EXCERPT_BYTES) stop(new Error('the rest of the body is not read'))
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => end(error),
    })
  })
}
