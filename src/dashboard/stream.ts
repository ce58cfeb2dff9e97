/** What may be asked: the feed as Server-Sent Events (HTML Living Standard §9.2), from any point on and live. */
import type { UnderlyingSource } from 'node:stream/web'
import type { Feed } from '../events/feed.ts'
import { type Live, messageOf } from '../events/live.ts'
import type { Scope } from './scope.ts'

const HEARTBEAT_MS = 15_000
/** Events read at once while a client that was away catches up. */
const PAGE = 500
/** Bytes a client may leave unread before it is let go; it comes back with `Last-Event-ID` and misses nothing. */
const UNREAD_BYTES = 1_048_576

const encoder = new TextEncoder()
const heartbeat = encoder.encode(': still here\n\n')

type Deps = { feed: Feed; live: Live; closing: AbortSignal }

/**
 * A response that sends every event of `scope` after `last_seq`, then those that happen. Null begins at the head.
 */
export function streamOf(deps: Deps, scope: Scope, last_seq: number | null): Response {
  const body = new ReadableStream<Uint8Array>(sourceOf(deps, scope, last_seq ?? deps.feed.head()), {
    highWaterMark: UNREAD_BYTES,
    size: (chunk) => chunk.byteLength,
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } })
}

/** Reads pages for as long as the client is behind; what happens meanwhile is in a later page, not sent twice. */
function sourceOf({ feed, live, closing }: Deps, scope: Scope, from: number): UnderlyingSource<Uint8Array> {
  let sent = from
  let caughtUp = false
  let stop = (): void => {}

  function start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const end = (): void => {
      stop()
      controller.close()
    }
    const send = (messages: Uint8Array): void => {
      controller.enqueue(messages)
      if ((controller.desiredSize ?? 0) < 0) end()
    }
    const unwatch = live.watch({ wants: (event) => caughtUp && event.seq > sent && scope.wants(event), send })
    const beat = setInterval(send, HEARTBEAT_MS, heartbeat).unref()
    stop = () => {
      unwatch()
      clearInterval(beat)
      closing.removeEventListener('abort', end)
    }
    closing.addEventListener('abort', end)
    controller.enqueue(encoder.encode('retry: 2000\n\n'))
    if (closing.aborted) end()
  }

  function pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (caughtUp) return
    const page = feed.read({ ...scope.query, after: sent, limit: PAGE })
    sent = page.at(-1)?.seq ?? sent
    caughtUp = page.length === 0
    if (!caughtUp) controller.enqueue(encoder.encode(page.map(messageOf).join('')))
  }

  return { start, pull, cancel: () => stop() }
}
