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
/** Events in one page while a client catches up. */
const PAGE = 100
/** Bytes prepared while a client catches up, and unread bytes at which a client is disconnected. */
const READY_BYTES = 131_072
const UNREAD_BYTES = 1_048_576

const encoder = new TextEncoder()
const heartbeat = encoder.encode(': still here\n\n')

/** `monotonic` never jumps. */
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
 * Which events, and after which seq (null: from the head). `accessValidUntil` returns the instant at which the caller's
 * access ends, as far as is known now. An instant that has passed ends the stream.
 */
type StreamQuery = { scope: EventScope; after: number | null; accessValidUntil: () => number }
type Controller = ReadableStreamDefaultController<Uint8Array>

export const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }

/** A response that sends the requested events, then new ones as they are recorded. */
export function streamOf(deps: StreamDeps, query: StreamQuery): Response {
  const body = new ReadableStream<Uint8Array>(openSource(deps, query), {
    highWaterMark: READY_BYTES,
    size: (chunk) => chunk.byteLength,
  })
  return new Response(body, { headers: STREAM_HEADERS })
}

/**
 * Watches the caller's access and calls `onEnd` when it has ended. `check` reads `accessValidUntil` again; `checkIfDue`
 * does so only if the last known end has passed, which makes it cheap enough for every write.
 */
function watchAccess(
  { revocations, clock }: StreamDeps,
  accessValidUntil: StreamQuery['accessValidUntil'],
  onEnd: () => void,
) {
  let until = accessValidUntil()
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    clearTimeout(timer)
    until = accessValidUntil()
    const left = until - clock()
    if (left <= 0) onEnd()
    // A heartbeat comes before any later end, and checks again.
    else if (left <= HEARTBEAT_MS) timer = setTimeout(check, left).unref()
  }

  const unsubscribe = revocations.watch(check)
  function stop(): void {
    clearTimeout(timer)
    unsubscribe()
  }
  const checkIfDue = (): void => {
    if (until <= clock()) check()
  }
  return { check, checkIfDue, stop }
}

/** Reads pages while the client is behind. Events recorded meanwhile are in a later page and are sent once. */
function openSource(
  deps: StreamDeps,
  { scope, after, accessValidUntil }: StreamQuery,
): UnderlyingSource<Uint8Array> {
  const { feed, live, closing } = deps
  const pages = openPages(deps, scope)
  // A seq beyond the head belongs to another database: a backup was restored, or the demo was restarted.
  let sent = Math.min(after ?? Number.MAX_SAFE_INTEGER, feed.head())
  let caughtUp = false
  let isOpen = true
  let unwatch = (): void => {}
  let access: ReturnType<typeof watchAccess> | undefined

  function stop(): void {
    isOpen = false
    unwatch()
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
      if ((controller.desiredSize ?? 0) < READY_BYTES - UNREAD_BYTES) end()
    }
    access = watchAccess(deps, accessValidUntil, end)
    const beat = setInterval(() => {
      access?.check()
      if (caughtUp) send(heartbeat)
    }, HEARTBEAT_MS).unref()
    const unwatchFeed = live.watch({
      wants: (event) => caughtUp && event.seq > sent && scope.wants(event),
      send,
    })
    unwatch = () => {
      unwatchFeed()
      access?.stop()
      clearInterval(beat)
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
      const { events, reached, isHead } = await pages.next(sent, () => isOpen)
      sent = reached
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

/** The pages that a client catches up with. All together wait no longer for customers' figures than one event may. */
function openPages({ feed, enrichment, monotonic }: StreamDeps, { query }: EventScope) {
  let left = FIGURES_TIMEOUT_MS

  async function enrich(events: readonly FeedEvent[]): Promise<EnrichedEvent[]> {
    const began = monotonic()
    const enriched = await enrichment.enrich(events, left)
    left = Math.max(0, left - (monotonic() - began))
    return enriched
  }

  /** Returns the next page that has events. An empty page with `isHead` means that the client has caught up. */
  async function next(from: number, goOn: () => boolean) {
    let reached = from
    for (;;) {
      await yieldToEventLoop()
      const page = await pageForwards(feed, query, reached, PAGE)
      reached = page.next ?? reached
      const events = await enrich(page.events)
      const isHead = reached >= feed.head()
      if (events.length > 0 || isHead || !goOn()) return { events, reached, isHead }
    }
  }

  return { next }
}
