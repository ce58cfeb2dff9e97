/** Ends a transfer over which nothing moves any more. */
import { S3Error } from './s3_errors.ts'

/** Opens the watch of one transfer with `host`. `signal` aborts when nothing has moved for `ms`, and with `above`. */
export function openQuietWatch(host: string, ms: number, above: AbortSignal) {
  const late = new AbortController()
  const words = `${host} neither took nor sent anything for ${ms / 1000} seconds. Try again later.`
  const timer = setTimeout(() => late.abort(new S3Error(words)), ms)
  const signal = AbortSignal.any([above, late.signal])

  /** Passes chunks on, and notes that something moves. */
  async function* passing(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      timer.refresh()
      yield chunk
    }
  }

  /** Passes the body of an answer on. @throws S3Error if the connection breaks off */
  async function* receiving(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* passing(chunks)
    } catch {
      signal.throwIfAborted()
      throw new S3Error(`The connection to ${host} broke off. Try again.`)
    }
  }

  return { signal, passing, receiving, end: () => clearTimeout(timer) }
}
