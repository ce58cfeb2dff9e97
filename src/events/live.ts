/** What we remember: who is watching the feed. What several want alike is written out once for all of them. */
import type { Feed, FeedEvent } from './feed.ts'

/** A watcher: `wants` chooses, `send` is given finished Server-Sent Events messages. */
type Watcher = { wants: (event: FeedEvent) => boolean; send: (messages: Uint8Array) => void }

export type Live = ReturnType<typeof openLive>

/** How often watchers are written to at most: eyes see no difference, a thousand sockets do. */
const DELIVER_EVERY_MS = 100
/** How many are written to before requests get their turn. */
const AT_ONCE = 50

const encoder = new TextEncoder()

/**
 * The message of one event: its seq is the id that a browser sends back as `Last-Event-ID`. It has no event field,
 * so that one `onmessage` gets them all.
 */
export const messageOf = (event: FeedEvent): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`

export function openLive(feed: Feed) {
  const watchers = new Set<Watcher>()
  let waiting: FeedEvent[] = []
  let delivering = false

  feed.listen((event) => {
    if (watchers.size === 0) return
    waiting.push(event)
    if (delivering) return
    delivering = true
    setImmediate(deliver)
  })

  function deliver(): void {
    const textFor = textsOf(waiting)
    waiting = []
    const turn = (rest: Watcher[]): void => {
      for (const watcher of rest.splice(0, AT_ONCE)) {
        // Who left since the delivery began is not there to be written to.
        const text = watchers.has(watcher) ? textFor(watcher) : null
        if (text) watcher.send(text)
      }
      if (rest.length > 0) setImmediate(turn, rest)
      else setTimeout(again, DELIVER_EVERY_MS).unref()
    }
    turn([...watchers])
  }

  function again(): void {
    delivering = waiting.length > 0
    if (delivering) deliver()
  }

  /** Watches until the returned function is called. */
  function watch(watcher: Watcher): () => void {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }

  /** Changes what waits to be sent, where it must not be sent as it was any more. */
  function change(replacement: (event: FeedEvent) => FeedEvent): void {
    waiting = waiting.map(replacement)
  }

  return { watch, change }
}

/** The bytes of these events for a watcher, null when it wants none; made once for each choice among them. */
function textsOf(events: readonly FeedEvent[]) {
  const messages = events.map(messageOf)
  const made = new Map<string, Uint8Array | null>()
  return (watcher: Watcher): Uint8Array | null => {
    const choice = events.map((event) => (watcher.wants(event) ? '1' : '0')).join('')
    const known = made.get(choice)
    if (known !== undefined) return known
    const text = messages.filter((_, index) => choice[index] === '1').join('')
    const bytes = text === '' ? null : encoder.encode(text)
    made.set(choice, bytes)
    return bytes
  }
}
