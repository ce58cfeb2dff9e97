/** The two forms of a request: one whose answer is short, and one whose bodies are streams. */
import type { Readable } from 'node:stream'
import type { Agent, Dispatcher } from 'undici'
import { preciseTime } from '../clock.ts'
import { exchange } from './exchange.ts'
import type { Failure } from './failures.ts'
import type { Connection } from './pools.ts'
import type { Cancelled, Send } from './sending.ts'

export type OutgoingRequest = Cancelled &
  Readonly<{
    url: string
    method: 'GET' | 'POST' | 'PUT'
    headers: Readonly<Record<string, string>>
    body: Buffer | null
  }>

/** A request whose bodies can be large. A stream as `body` needs the header `content-length`. */
type StreamedRequest = Omit<OutgoingRequest, 'method' | 'body'> &
  Readonly<{ method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'; body: Readable | null }>

/** A response whose body the caller reads to its end, or destroys. */
export type StreamedAnswer = Pick<Answer, 'status' | 'headers'> & Readonly<{ body: Readable }>

/**
 * A response. `excerpt` is the beginning of its body as text, at most 2,048 bytes. `address` is the IP address that
 * answered. `ms` is the time from the call to the status line.
 */
export type Answer = Readonly<{
  status: number
  headers: Dispatcher.ResponseData['headers']
  excerpt: string
  address: string
  ms: number
}>

/** Opens requests on pools of connections. */
export function openRequests(send: Send, pools: () => Promise<Agent>) {
  /**
   * Sends a request. Any response counts, also one that arrives before the body was sent or that breaks off after the
   * status line. At most 2,048 bytes of its body are read, for at most a second; the rest is dropped.
   *
   * @throws the reason of `signal` when it aborts before the status line; an Error after `close` or for an invalid header
   */
  async function request(outgoing: OutgoingRequest): Promise<Answer | Failure> {
    return send(outgoing, async (url, running) => {
      const began_at = preciseTime()
      const opaque: { connection?: Connection } = {}
      const { method, body } = outgoing
      const options = { origin: url.origin, path: url.pathname + url.search, method, body, opaque }
      const watch = { signal: running.signal, onStatus: running.stopTimer }
      const sent = { ...options, headers: { ...outgoing.headers } }
      const { status_at, ...received } = await exchange(await pools(), sent, watch)
      running.end()
      return { ...received, address: opaque.connection?.address ?? '', ms: status_at - began_at }
    })
  }

  /**
   * Sends a request whose bodies are streams. Any response counts. `signal` also ends the reading of its body, and so
   * does `close`.
   *
   * @throws like `request`
   */
  async function stream(outgoing: StreamedRequest): Promise<StreamedAnswer | Failure> {
    return send(outgoing, async ({ origin, pathname, search }, running) => {
      const { method, body } = outgoing
      const headers = { ...outgoing.headers }
      const options = { origin, path: pathname + search, method, body, headers, signal: running.signal }
      const agent = await pools()
      running.signal.throwIfAborted()
      const answer = await unlessAborted(running.signal, agent.request(options))
      running.stopTimer()
      // An error after the end of the reading has no other listener.
      answer.body.once('close', running.end).on('error', () => {})
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    })
  }

  return { request, stream }
}

/** The result of `work`, which undici does not end before there is a connection. @throws the reason of `signal` */
function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return Promise.race([work, promise])
}
