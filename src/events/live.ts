/** What we remember: who is watching the feed. Each event is written out once, however many watch. */
import type { Feed, FeedEvent } from './feed.ts'

/** A watcher: `wants` chooses, `send` is given finished Server-Sent Events messages. */
export type Watcher = { wants: (event: FeedEvent) => boolean; send: (messages: Uint8Array) => void }

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
    const events = waiting
    waiting = []
    const messages = events.map(messageOf)
    const all = encoder.encode(messages.join(''))
    const turn = (rest: Watcher[]): void => {
      for (const watcher of rest.splice(0, AT_ONCE)) sendWanted(watcher, events, messages, all)
      if (rest.length > 0) setImmediate(turn, rest)
      else setTimeout(again, DELIVER_EVERY_MS).unref()
    }
    turn([...watchers])
  }

  function again(): void {
    delivering = waiting.length > 0
    if (delivering) deliver()
  }

  function sendWanted(watcher: Watcher, events: FeedEvent[], messages: string[], all: Uint8Array): void {
    const wanted = messages.filter((_, index) => {
      const event = events[index]
      return event !== undefined && watcher.wants(event)
    })
    if (wanted.length === messages.length) watcher.send(all)
    else if (wanted.length > 0) watcher.send(encoder.encode(wanted.join('')))
  }

  /** Watches until the returned function is called. */
  function watch(watcher: Watcher): () => void {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }

  return { watch }
}
