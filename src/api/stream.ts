/** The feed as Server-Sent Events (HTML Living Standard §9.2): from any seq, then live. */
import type { UnderlyingSource } from 'node:stream/web'
import type { Revocations } from '../access/revocations.ts'
import type { EventScope } from '../access/scope.ts'
import type { Clock } from '../clock.ts'
import type { Feed, FeedEvent } from '../events/feed.ts'
import { type Live, messageOf } from '../events/live.ts'
import { pageForwards } from '../events/pages.ts'
import { type EnrichedEvent, type Enrichment, FIGURES_TIMEOUT_MS } from '../metrics/customers/enrichment.ts'
import { yieldToEventLoop } from '../turns.ts'

const HEARTBEAT_MS = 15_000
/** Maximum number of events in one page while a client catches up. */
const PAGE_SIZE = 100
/** While a client catches up, pages are read ahead until this many bytes are queued. */
const MAX_PREPARED_BYTES = 131_072
/** A client with more unread bytes than this is disconnected. */
const MAX_UNREAD_BYTES = 1_048_576

const encoder = new TextEncoder()
const heartbeat = encoder.encode(': still here\n\n')

/** What a stream needs. `monotonic` is a clock that never jumps. */
export type StreamDeps = {
  feed: Feed
  live: Live
  enrichment: Pick<Enrichment, 'enrich'>
  revocations: Revocations
  clock: Clock
  monotonic: Clock
  closing: AbortSignal
}

/**
 * `scope` selects the events. The stream starts after the seq `after`; null starts it at the head of the feed.
 * `accessValidUntil` returns the instant at which the caller's access ends, as far as is known now. The stream ends at
 * that instant.
 */
type StreamQuery = { scope: EventScope; after: number | null; accessValidUntil: () => number }
type Controller = ReadableStreamDefaultController<Uint8Array>

export const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }

/** Returns a response that sends the stored events of the scope, and then new events as they are recorded. */
export function streamOf(deps: StreamDeps, query: StreamQuery): Response {
  const body = new ReadableStream<Uint8Array>(openSource(deps, query), {
    highWaterMark: MAX_PREPARED_BYTES,
    size: (chunk) => chunk.byteLength,
  })
  return new Response(body, { headers: STREAM_HEADERS })
}

/**
 * Watches the caller's access and calls `onEnd` when the access has ended. `check` calls `accessValidUntil` again.
 * `checkIfDue` calls `check` only if the last known end has passed, so it is cheap enough for every write.
 */
function watchAccess(
  { revocations, clock }: StreamDeps,
  accessValidUntil: StreamQuery['accessValidUntil'],
  onEnd: () => void,
) {
  let validUntil = accessValidUntil()
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    clearTimeout(timer)
    validUntil = accessValidUntil()
    const left_ms = validUntil - clock()
    if (left_ms <= 0) onEnd()
    // If access ends later than the next heartbeat, that heartbeat checks again.
    else if (left_ms <= HEARTBEAT_MS) timer = setTimeout(check, left_ms).unref()
  }

  const unsubscribe = revocations.watch(check)
  function stop(): void {
    clearTimeout(timer)
    unsubscribe()
  }
  const checkIfDue = (): void => {
    if (validUntil <= clock()) check()
  }
  return { check, checkIfDue, stop }
}

/**
 * The source of the response body. It reads pages until the client has caught up, and then sends live events. An event
 * recorded while the client catches up is in a later page, so the client receives it once.
 */
function openSource(
  deps: StreamDeps,
  { scope, after, accessValidUntil }: StreamQuery,
): UnderlyingSource<Uint8Array> {
  const { feed, live, closing } = deps
  const pages = openPages(deps, scope)
  // A seq beyond the head belongs to another database: a backup was restored, or the demo was restarted.
  let sentSeq = Math.min(after ?? Number.MAX_SAFE_INTEGER, feed.head())
  let caughtUp = false
  let isOpen = true
  let release = (): void => {}
  let access: ReturnType<typeof watchAccess> | undefined

  function stop(): void {
    isOpen = false
    release()
  }

  function start(controller: Controller): void {
    const end = (): void => {
      if (!isOpen) return
      stop()
      controller.close()
    }
    const send = (messages: Uint8Array): void => {
      access?.checkIfDue()
      if (!isOpen) return
      controller.enqueue(messages)
      if ((controller.desiredSize ?? 0) < MAX_PREPARED_BYTES - MAX_UNREAD_BYTES) end()
    }
    access = watchAccess(deps, accessValidUntil, end)
    const heartbeatTimer = setInterval(() => {
      access?.check()
      if (caughtUp) send(heartbeat)
    }, HEARTBEAT_MS).unref()
    const unwatchFeed = live.watch({
      wants: (event) => caughtUp && event.seq > sentSeq && scope.wants(event),
      send,
    })
    release = () => {
      unwatchFeed()
      access?.stop()
      clearInterval(heartbeatTimer)
      closing.removeEventListener('abort', end)
    }
    closing.addEventListener('abort', end)
    controller.enqueue(encoder.encode('retry: 2000\n\n'))
    access.check()
    if (closing.aborted) end()
  }

  async function pull(controller: Controller): Promise<void> {
    if (caughtUp || !isOpen) return
    try {
      const { events, reachedSeq, isHead } = await pages.next(sentSeq, () => isOpen)
      sentSeq = reachedSeq
      caughtUp = isHead
      access?.checkIfDue()
      if (isOpen && events.length > 0) controller.enqueue(encoder.encode(events.map(messageOf).join('')))
    } catch (error) {
      stop()
      throw error
    }
  }

  return { start, pull, cancel: stop }
}

/**
 * Reads the pages for a client that catches up. All pages together wait at most `FIGURES_TIMEOUT_MS` for the figures of
 * customers. A single live event has the same limit.
 */
function openPages({ feed, enrichment, monotonic }: StreamDeps, { query }: EventScope) {
  let remaining_ms = FIGURES_TIMEOUT_MS

  async function enrich(events: readonly FeedEvent[]): Promise<EnrichedEvent[]> {
    const started_at = monotonic()
    const enriched = await enrichment.enrich(events, remaining_ms)
    remaining_ms = Math.max(0, remaining_ms - (monotonic() - started_at))
    return enriched
  }

  /** Returns the next page that has events. An empty page with `isHead` means that the client has caught up. */
  async function next(from: number, canContinue: () => boolean) {
    let reachedSeq = from
    for (;;) {
      await yieldToEventLoop()
      const page = await pageForwards(feed, query, reachedSeq, PAGE_SIZE)
      reachedSeq = page.next ?? reachedSeq
      const events = await enrich(page.events)
      const isHead = reachedSeq >= feed.head()
      if (events.length > 0 || isHead || !canContinue()) return { events, reachedSeq, isHead }
    }
  }

  return { next }
}
