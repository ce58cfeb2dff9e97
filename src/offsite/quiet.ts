/** Ends a transfer over which nothing moves any more. */
import { S3Error } from './s3_errors.ts'

/** `quiet_ms` is how long nothing may move, `limit_ms` how long the transfer may last; null for as long as it moves. */
type Limits = Readonly<{ quiet_ms: number; limit_ms: number | null }>

/** Opens the watch of one transfer with `host`. `signal` aborts at its limits, and with `above`. */
export function openQuietWatch(host: string, { quiet_ms, limit_ms }: Limits, above: AbortSignal) {
  const late = new AbortController()
  const abortAfter = (ms: number, did: string): NodeJS.Timeout =>
    setTimeout(() => late.abort(new S3Error(`${host} ${did} ${ms / 1000} seconds. Try again later.`)), ms)
  const timer = abortAfter(quiet_ms, 'neither took nor sent anything for')
  const limit = limit_ms === null ? undefined : abortAfter(limit_ms, 'did not end its answer within')
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

  function end(): void {
    clearTimeout(timer)
    clearTimeout(limit)
  }

  return { signal, passing, receiving, end }
}
