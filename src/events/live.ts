/** What we remember: who is watching the feed. What several want alike is written out once for all of them. */
import type { Clock } from '../clock.ts'
import type { Feed, FeedEvent } from './feed.ts'

/** A watcher: `wants` chooses, `send` is given finished Server-Sent Events messages. */
type Watcher = { wants: (event: FeedEvent) => boolean; send: (messages: Uint8Array) => void }

/**
 * What a later folder adds to events as they go out. `ready` resolves to whether it can be had, within `most_ms`, and
 * never rejects; `complete` adds it, or what stands in its place, in the order of the events.
 */
type Completion = {
  ready: (events: readonly FeedEvent[], maxMs: number) => Promise<boolean>
  complete: (events: readonly FeedEvent[], isReady: boolean) => readonly FeedEvent[]
}

type TextFor = (watcher: Watcher) => Uint8Array | null

export type Live = ReturnType<typeof openLive>

/** How long an event waits at most for what is added to it. */
const READY_WITHIN_MS = 1_000
/** Events that are completed and sent at once. */
const GROUP = 500
/** With so many in memory nothing is waited for. */
const MAX_WAITING = 2_000
/** How often watchers are written to at most: eyes see no difference, a thousand sockets do. */
const DELIVER_EVERY_MS = 100
/** How many are written to before requests get their turn. */
const EVENTS_PER_TURN = 50

const encoder = new TextEncoder()

/**
 * The message of one event: its seq is the id that a browser sends back as `Last-Event-ID`. It has no event field,
 * so that one `onmessage` gets them all.
 */
export const messageOf = (event: FeedEvent): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`

/** `monotonic` never jumps: how long events have waited is measured with it. */
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

  /** Sends a group of those that wait, in the order of the feed: what comes later is sent after it. */
  async function deliver(): Promise<void> {
    const size = Math.min(waiting.length, GROUP)
    const isReady = await readyInTime(waiting.slice(0, size))
    // Only now are they taken: until they are sent, an erasure changes them.
    const group = waiting.splice(0, size).map(({ event }) => event)
    const textFor: TextFor = watchers.size > 0 ? textsOf(completed(group, isReady)) : () => null
    write([...watchers], textFor)
  }

  function write(rest: Watcher[], textFor: TextFor): void {
    for (const watcher of rest.splice(0, EVENTS_PER_TURN)) {
      // Who left since the delivery began is not there to be written to.
      const text = watchers.has(watcher) ? textFor(watcher) : null
      if (text) watcher.send(text)
    }
    if (rest.length > 0) setImmediate(write, rest, textFor)
    else if (waiting.length >= GROUP) setImmediate(deliver)
    else setTimeout(scheduleDelivery, DELIVER_EVERY_MS).unref()
  }

  /** The events of a group wait together, until the first of them has waited long enough. */
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

  /** Watches until the returned function is called. */
  function watch(watcher: Watcher): () => void {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }

  /** Changes what waits to be sent, where it must not be sent as it was any more. */
  function change(replacement: (event: FeedEvent) => FeedEvent): void {
    waiting = waiting.map(({ event, since }) => ({ event: replacement(event), since }))
  }

  /** Adds `by` to what completes each event that is sent from now on, after those that were added before it. */
  const complete = (by: Completion): void => void completions.push(by)

  const completed = (group: readonly FeedEvent[], isReady: boolean): readonly FeedEvent[] =>
    completions.reduce((events, { complete }) => complete(events, isReady), group)

  return { watch, change, complete }
}

/** The bytes of these events for a watcher, null when it wants none; made once for each choice among them. */
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
