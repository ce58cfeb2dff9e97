/** The feed as it happens: what was, then what comes, in batches that eyes and a phone can follow. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemFrom, renew } from '../answers.ts'
import { addressOf, type Problem, type Query, read } from '../asking.ts'
import { currentTime } from '../now.ts'
import type { FeedEvent, FeedPage } from './feed_event.ts'
import { type Stretch, withNewest, withNews, withOlder } from './stretch.ts'

const PAGE = 50
/** Rows are drawn at most this often. */
const DRAW_EVERY_MS = 300
const AGAIN_MS = [1_000, 2_000, 5_000, 15_000]
/** A page that nobody looks at holds no connection: a browser has but six for a host. */
const LEAVE_AFTER_MS = 30_000
const WAITING_MOST = 600

export type LiveFeed = {
  stretch: Stretch | null
  problem: Problem | null
  /** null while live; since when it is not. */
  lostAt: number | null
  /** Arrived and held back. */
  waiting: number
  /** The newest seq of when one began to look: what is above has come since. */
  seenUntil: number
  older: () => void
  isLoadingOlder: boolean
  again: () => void
}

type Told = Pick<LiveFeed, 'stretch' | 'problem' | 'lostAt' | 'waiting' | 'seenUntil' | 'isLoadingOlder'>
const NOTHING: Told = {
  ...{ stretch: null, problem: null, lostAt: null, waiting: 0, seenUntil: 0, isLoadingOlder: false },
}

type Listening = {
  query: Query
  tell: (change: (before: Told) => Told) => void
  wants: (event: FeedEvent) => boolean
  isHeld: () => boolean
  onNews: (events: FeedEvent[]) => void
}

/** Listens until it is closed. */
function listen({ query, tell, wants, isHeld, onNews }: Listening) {
  let source: EventSource | null = null
  let isOver = false
  let failures = 0
  let waiting: FeedEvent[] = []
  let drawing: ReturnType<typeof setTimeout> | undefined
  let opening: ReturnType<typeof setTimeout> | undefined
  let leaving: ReturnType<typeof setTimeout> | undefined

  const page = async (before: number | null): Promise<Stretch> => {
    const { events, next } = await read<FeedPage>('/api/v1/events', { ...query, limit: PAGE, before })
    return { events: events.filter(wants), next }
  }

  async function newest(): Promise<void> {
    try {
      const found = await page(null)
      if (isOver) return
      tell((before) => ({
        ...before,
        problem: null,
        seenUntil: before.stretch ? before.seenUntil : (found.events[0]?.seq ?? 0),
        stretch: before.stretch ? withNewest(before.stretch, found) : found,
      }))
    } catch (error) {
      if (!isOver) tell((before) => ({ ...before, problem: problemFrom(error) }))
    }
  }

  function draw(): void {
    drawing = undefined
    if (isOver || waiting.length === 0) return
    if (isHeld()) {
      tell((before) => ({ ...before, waiting: waiting.length }))
      return
    }
    const news = waiting
    waiting = []
    tell((before) => ({
      ...before,
      waiting: 0,
      stretch: withNews(before.stretch ?? { events: [], next: null }, news),
    }))
  }

  function arrived(message: MessageEvent<string>): void {
    const event = JSON.parse(message.data) as FeedEvent
    if (!wants(event)) return
    waiting = [event, ...waiting].slice(0, WAITING_MOST)
    onNews([event])
    drawing ??= setTimeout(draw, DRAW_EVERY_MS)
  }

  function lost(): void {
    tell((before) => ({ ...before, lostAt: before.lostAt ?? currentTime() }))
    if (source?.readyState !== EventSource.CLOSED) return
    // A refusal ends an EventSource for good; whether one is still signed in tells the session.
    source = null
    void renew('/api/v1/session')
    opening = setTimeout(open, AGAIN_MS[Math.min(failures++, AGAIN_MS.length - 1)])
  }

  function open(): void {
    if (isOver || source) return
    source = new EventSource(addressOf('/api/v1/events/stream', query))
    source.onmessage = arrived
    source.onerror = lost
    source.onopen = () => {
      failures = 0
      tell((before) => ({ ...before, lostAt: null }))
      // The stream begins where the feed ends just now: what happened before that is asked for after it is open.
      void newest()
    }
  }

  function close(): void {
    source?.close()
    source = null
    clearTimeout(opening)
  }

  function seen(): void {
    clearTimeout(leaving)
    if (document.hidden) leaving = setTimeout(close, LEAVE_AFTER_MS)
    else open()
  }

  document.addEventListener('visibilitychange', seen)
  void newest()
  open()
  return {
    page,
    newest,
    release: draw,
    end: () => {
      isOver = true
      close()
      for (const timer of [drawing, leaving]) clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    },
  }
}

type Options = {
  query: Query
  /** What else is left out. */
  wants: (event: FeedEvent) => boolean
  /** While true, rows stand still and what arrives waits. */
  isHeld: boolean
  onNews: (events: FeedEvent[]) => void
}

export function useLiveFeed({ query, wants, isHeld, onNews }: Options): LiveFeed {
  const [told, tell] = useState<Told>(NOTHING)
  const listener = useRef<ReturnType<typeof listen> | null>(null)
  const now = useRef({ wants, isHeld, onNews })
  now.current = { wants, isHeld, onNews }
  const key = JSON.stringify(query)
  useEffect(() => {
    tell(NOTHING)
    const listening = listen({
      query,
      tell,
      wants: (event) => now.current.wants(event),
      isHeld: () => now.current.isHeld,
      onNews: (events) => now.current.onNews(events),
    })
    listener.current = listening
    return listening.end
  }, [key])
  useEffect(() => {
    if (!isHeld) listener.current?.release()
  }, [isHeld])

  const older = async (): Promise<void> => {
    const before = told.stretch?.next
    if (!listener.current || !before || told.isLoadingOlder) return
    tell((one) => ({ ...one, isLoadingOlder: true }))
    try {
      const found = await listener.current.page(before)
      tell((one) => ({
        ...one,
        isLoadingOlder: false,
        stretch: one.stretch && withOlder(one.stretch, found),
      }))
    } catch (error) {
      tell((one) => ({ ...one, isLoadingOlder: false, problem: problemFrom(error) }))
    }
  }
  return { ...told, older: () => void older(), again: () => void listener.current?.newest() }
}
