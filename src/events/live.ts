/** Sends new events to live streams. Watchers with the same filter share one serialized message. */
import type { Clock } from '../clock.ts'
import type { Feed, FeedEvent } from './feed.ts'

/** A live stream: `wants` filters events, `send` takes complete Server-Sent Events messages. */
type Watcher = { wants: (event: FeedEvent) => boolean; send: (messages: Uint8Array) => void }

/**
 * Adds data to events as they are sent, for modules that the feed cannot import. `ready` resolves to whether the data
 * is available, within `maxMs`, and never rejects. `complete` adds the data or a placeholder, in the order of the
 * events.
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
const GROUP = 500
/** With this many events in memory, nothing waits for added data. */
const MAX_WAITING = 2_000
/** The minimum interval between writes to watchers: imperceptible to people, and less work for a thousand sockets. */
const DELIVER_EVERY_MS = 100
/** The number of watchers that are written to before requests are served. */
const EVENTS_PER_TURN = 50

const encoder = new TextEncoder()

/**
 * The Server-Sent Events message of an event. Its seq is the id that a browser sends back as `Last-Event-ID`. It has no
 * `event` field, so that one `onmessage` handler receives all events.
 */
export const messageOf = (event: FeedEvent): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`

/** Opens live delivery. `monotonic` measures how long events have waited. */
export function openLive(feed: Feed, monotonic: Clock) {
  const watchers = new Set<Watcher>()
  const completions: Completion[] = []
  let waiting: { event: FeedEvent; since: number }[] = []
  let delivering = false
  let hurry = (): void => {}

  feed.listen((event) => {
    if (watchers.size === 0) return
    waiting.push({ event, since: monotonic() })
    if (waiting.length >= MAX_WAITING) hurry()
    if (delivering) return
    delivering = true
    setImmediate(deliver)
  })

  /** Sends a group of waiting events, in the order of the feed. */
  async function deliver(): Promise<void> {
    const size = Math.min(waiting.length, GROUP)
    const isReady = await readyInTime(waiting.slice(0, size))
    // Removed only now: an erasure changes events that wait.
    const group = waiting.splice(0, size).map(({ event }) => event)
    const textFor: TextFor = watchers.size > 0 ? textsOf(completed(group, isReady)) : () => null
    write([...watchers], textFor)
  }

  function write(rest: Watcher[], textFor: TextFor): void {
    for (const watcher of rest.splice(0, EVENTS_PER_TURN)) {
      // The watcher may have left since the delivery began.
      const text = watchers.has(watcher) ? textFor(watcher) : null
      if (text) watcher.send(text)
    }
    if (rest.length > 0) setImmediate(write, rest, textFor)
    else if (waiting.length >= GROUP) setImmediate(deliver)
    else setTimeout(scheduleDelivery, DELIVER_EVERY_MS).unref()
  }

  /** The events of a group wait together, until the first of them has waited the maximum time. */
  function readyInTime(group: typeof waiting): Promise<boolean> {
    const waited = monotonic() - (group[0]?.since ?? 0)
    const left = waiting.length >= MAX_WAITING ? 0 : Math.max(0, READY_WITHIN_MS - waited)
    const tooMany = new Promise<boolean>((resolve) => {
      hurry = () => resolve(false)
    })
    const events = group.map(({ event }) => event)
    const ready = Promise.all(completions.map((completion) => completion.ready(events, left)))
    return Promise.race([ready.then((each) => !each.includes(false)), tooMany])
  }

  function scheduleDelivery(): void {
    delivering = waiting.length > 0
    if (delivering) void deliver()
  }

  /** Adds a watcher; the returned function removes it. */
  function watch(watcher: Watcher): () => void {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }

  /** Replaces waiting events, for an erasure. */
  function change(replacement: (event: FeedEvent) => FeedEvent): void {
    waiting = waiting.map(({ event, since }) => ({ event: replacement(event), since }))
  }

  /** Adds a completion for all events that are sent from now on. Completions run in the order they were added. */
  const complete = (by: Completion): void => void completions.push(by)

  const completed = (group: readonly FeedEvent[], isReady: boolean): readonly FeedEvent[] =>
    completions.reduce((events, { complete }) => complete(events, isReady), group)

  return { watch, change, complete }
}

/** Returns the message bytes of the events that a watcher wants, or null. Computes each selection of events once. */
function textsOf(events: readonly FeedEvent[]): TextFor {
  const messages = events.map(messageOf)
  const made = new Map<string, Uint8Array | null>()
  return (watcher) => {
    const choice = events.map((event) => (watcher.wants(event) ? '1' : '0')).join('')
    const known = made.get(choice)
    if (known !== undefined) return known
    const text = messages.filter((_, index) => choice[index] === '1').join('')
    const bytes = text === '' ? null : encoder.encode(text)
    made.set(choice, bytes)
    return bytes
  }
}
