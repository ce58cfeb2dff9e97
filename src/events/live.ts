/** Sends new events to live streams. Watchers with the same filter share one serialized message. */
import type { Clock } from '../clock.ts'
import type { Feed, FeedEvent } from './feed.ts'

/** A live stream: `wants` filters events, `send` takes complete Server-Sent Events messages. */
type Watcher = { wants: (event: FeedEvent) => boolean; send: (messages: Uint8Array) => void }

/**
 * Adds data to events as they are sent, for modules that the feed cannot import. `ready` waits for the data for at
 * most `maxMs` milliseconds, resolves to whether it is available, and never rejects. `complete` returns the events in
 * the same order, with the data or a placeholder.
 */
type Completion = {
  ready: (events: readonly FeedEvent[], maxMs: number) => Promise<boolean>
  complete: (events: readonly FeedEvent[], isReady: boolean) => readonly FeedEvent[]
}

type TextFor = (watcher: Watcher) => Uint8Array | null

export type Live = ReturnType<typeof openLive>

/** The maximum time that an event waits for added data. */
const READY_WITHIN_MS = 1_000
/** The maximum number of events that are completed and sent together. */
const GROUP_SIZE = 500
/** With this many waiting events, they are sent without waiting for added data. */
const MAX_WAITING = 2_000
/**
 * The minimum interval between writes to watchers. People do not notice it, and a thousand sockets need fewer writes.
 */
const DELIVER_EVERY_MS = 100
/** The number of watchers that are written to before other requests are served. */
const WATCHERS_PER_TURN = 50

const encoder = new TextEncoder()

/**
 * The Server-Sent Events message of an event. Its seq is the id that a browser sends back as `Last-Event-ID`. It has no
 * `event` field, so that one `onmessage` handler receives all events.
 */
export const messageOf = (event: FeedEvent): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`

/** Opens live delivery. `monotonic` measures how long events have waited. */
export function openLive(feed: Feed, monotonic: Clock) {
  const watchers = openWatchers()
  const completions: Completion[] = []
  let waiting: { event: FeedEvent; since: number }[] = []
  let isDelivering = false
  let stopWaiting = (): void => {}

  feed.listen((event) => {
    if (watchers.count() === 0) return
    waiting.push({ event, since: monotonic() })
    if (waiting.length >= MAX_WAITING) stopWaiting()
    if (isDelivering) return
    isDelivering = true
    setImmediate(deliver)
  })

  /** Sends a group of waiting events, in the order of the feed. */
  async function deliver(): Promise<void> {
    const size = Math.min(waiting.length, GROUP_SIZE)
    const isReady = await readyInTime(waiting.slice(0, size))
    // The events leave `waiting` only now, because an erasure can change them while they wait.
    const group = waiting.splice(0, size).map(({ event }) => event)
    watchers.send(watchers.count() > 0 ? textsOf(completed(group, isReady)) : () => null, () => {
      if (waiting.length >= GROUP_SIZE) setImmediate(deliver)
      else setTimeout(scheduleDelivery, DELIVER_EVERY_MS).unref()
    })
  }

  /** Waits for the added data of a group, until the group's first event has waited the maximum time. */
  function readyInTime(group: typeof waiting): Promise<boolean> {
    const waitedMs = monotonic() - (group[0]?.since ?? 0)
    const remainingMs = waiting.length >= MAX_WAITING ? 0 : Math.max(0, READY_WITHIN_MS - waitedMs)
    const overflow = new Promise<boolean>((resolve) => {
      stopWaiting = () => resolve(false)
    })
    const events = group.map(({ event }) => event)
    const ready = Promise.all(completions.map((completion) => completion.ready(events, remainingMs)))
    return Promise.race([ready.then((each) => !each.includes(false)), overflow])
  }

  function scheduleDelivery(): void {
    isDelivering = waiting.length > 0
    if (isDelivering) void deliver()
  }

  /** Replaces each waiting event, so that an erased user is not sent. */
  function change(replacement: (event: FeedEvent) => FeedEvent): void {
    waiting = waiting.map(({ event, since }) => ({ event: replacement(event), since }))
  }

  /** Adds a completion for all events that are sent from now on. Completions run in the order they were added. */
  const complete = (completion: Completion): void => void completions.push(completion)

  const completed = (group: readonly FeedEvent[], isReady: boolean): readonly FeedEvent[] =>
    completions.reduce((events, { complete }) => complete(events, isReady), group)

  /** Ends the delivery: from now on nothing is sent, and the database is not read. */
  function close(): void {
    watchers.clear()
    waiting = []
  }

  return { watch: watchers.watch, change, complete, close }
}

function openWatchers() {
  const watchers = new Set<Watcher>()

  /** Adds a watcher; the returned function removes it. */
  function watch(watcher: Watcher): () => void {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }

  /** Writes to all watchers, some in each turn of the event loop, and calls `onDone`. */
  function send(textFor: TextFor, onDone: () => void, remaining = [...watchers]): void {
    for (const watcher of remaining.splice(0, WATCHERS_PER_TURN)) {
      // The watcher may have left since the delivery began.
      const text = watchers.has(watcher) ? textFor(watcher) : null
      if (text) watcher.send(text)
    }
    if (remaining.length > 0) setImmediate(send, textFor, onDone, remaining)
    else onDone()
  }

  return { watch, send, count: () => watchers.size, clear: () => watchers.clear() }
}

/** Returns the message bytes of the events that a watcher wants, or null. Computes each selection of events once. */
function textsOf(events: readonly FeedEvent[]): TextFor {
  const messages = events.map(messageOf)
  const bytesBySelection = new Map<string, Uint8Array | null>()
  return (watcher) => {
    const selection = events.map((event) => (watcher.wants(event) ? '1' : '0')).join('')
    const known = bytesBySelection.get(selection)
    if (known !== undefined) return known
    const text = messages.filter((_, index) => selection[index] === '1').join('')
    const bytes = text === '' ? null : encoder.encode(text)
    bytesBySelection.set(selection, bytes)
    return bytes
  }
}
