/** The live feed: loads the newest page, then adds events from the stream in batches. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf, type Problem, type Query, read } from '../http.ts'
import { currentTime } from '../now.ts'
import { invalidate, problemFrom } from '../queries.ts'
import { openConnection } from './connection.ts'
import type { FeedEvent, FeedPage } from './feed_event.ts'
import { type FeedWindow, MAX_EVENTS, withNewEvents, withNewestPage, withOlderPage } from './feed_window.ts'

const PAGE = 50
/** Minimum interval between renders. */
const RENDER_INTERVAL_MS = 300

export type LiveFeed = {
  stretch: FeedWindow | null
  problem: Problem | null
  /** When the connection was lost; null while live. */
  lostAt: number | null
  /** Number of received events that are held back. */
  waiting: number
  /** The newest seq at the first load. Events above it are new. */
  seenUntil: number
  loadOlder: () => void
  isLoadingOlder: boolean
  retry: () => void
}

type FeedState = Pick<LiveFeed, 'stretch' | 'problem' | 'lostAt' | 'waiting' | 'seenUntil' | 'isLoadingOlder'>
const INITIAL_STATE: FeedState = {
  stretch: null,
  problem: null,
  lostAt: null,
  waiting: 0,
  seenUntil: 0,
  isLoadingOlder: false,
}

type ListenerOptions = {
  query: Query
  setState: (change: (before: FeedState) => FeedState) => void
  matches: (event: FeedEvent) => boolean
  isHeld: () => boolean
  onEvent: (event: FeedEvent) => void
}

/** Listens until `end` is called. */
function openListener({ query, setState, matches, isHeld, onEvent }: ListenerOptions) {
  let isOver = false
  let waiting: FeedEvent[] = []
  let renderTimer: ReturnType<typeof setTimeout> | undefined

  async function page(before: number | null): Promise<FeedWindow> {
    const { events, next } = await read<FeedPage>('/api/v1/events', { ...query, limit: PAGE, before })
    return { events: events.filter(matches), next }
  }

  async function newest(): Promise<void> {
    try {
      const found = await page(null)
      if (!isOver) setState((before) => withFirstPage(before, found))
    } catch (error) {
      if (!isOver) setState((before) => ({ ...before, problem: problemFrom(error) }))
    }
  }

  function render(): void {
    renderTimer = undefined
    if (isOver || waiting.length === 0) return
    if (isHeld()) return setState((before) => ({ ...before, waiting: waiting.length }))
    const news = waiting
    waiting = []
    const nothing = { events: [], next: null }
    setState((before) => ({ ...before, waiting: 0, stretch: withNewEvents(before.stretch ?? nothing, news) }))
  }

  function onMessage(data: string): void {
    const event = JSON.parse(data) as FeedEvent
    if (!matches(event)) return
    waiting = [event, ...waiting].slice(0, MAX_EVENTS)
    onEvent(event)
    renderTimer ??= setTimeout(render, RENDER_INTERVAL_MS)
  }

  const disconnect = openConnection({
    address: addressOf('/api/v1/events/stream', query),
    onMessage: onMessage,
    onOpen: () => {
      setState((before) => ({ ...before, lostAt: null }))
      // The stream starts at the current end of the feed, so events before it are loaded once it is open.
      void newest()
    },
    onLost: (isRefused) => {
      setState((before) => ({ ...before, lostAt: before.lostAt ?? currentTime() }))
      if (isRefused) void invalidate('/api/v1/session')
    },
  })
  void newest()

  function end(): void {
    isOver = true
    clearTimeout(renderTimer)
    disconnect()
  }

  return { page, newest, release: render, end }
}

const withFirstPage = (before: FeedState, found: FeedWindow): FeedState => ({
  ...before,
  problem: null,
  seenUntil: before.stretch ? before.seenUntil : (found.events[0]?.seq ?? 0),
  stretch: before.stretch ? withNewestPage(before.stretch, found) : found,
})

type Options = {
  query: Query
  /** An additional filter. */
  matches: (event: FeedEvent) => boolean
  /** While true, rows do not change and new events wait. */
  isHeld: boolean
  onEvent: (event: FeedEvent) => void
}

export function useLiveFeed({ query, matches, isHeld, onEvent }: Options): LiveFeed {
  const [state, setState] = useState<FeedState>(INITIAL_STATE)
  const listener = useRef<ReturnType<typeof openListener> | null>(null)
  const now = useRef({ matches, isHeld, onEvent })
  now.current = { matches, isHeld, onEvent }
  const key = JSON.stringify(query)
  useEffect(() => {
    setState(INITIAL_STATE)
    const listening = openListener({
      query,
      setState,
      matches: (event) => now.current.matches(event),
      isHeld: () => now.current.isHeld,
      onEvent: (event) => now.current.onEvent(event),
    })
    listener.current = listening
    return listening.end
  }, [key])
  useEffect(() => {
    if (!isHeld) listener.current?.release()
  }, [isHeld])

  const loadOlder = async (): Promise<void> => {
    const before = state.stretch?.next
    if (!listener.current || !before || state.isLoadingOlder) return
    setState((one) => ({ ...one, isLoadingOlder: true }))
    try {
      const found = await listener.current.page(before)
      setState((one) => ({
        ...one,
        isLoadingOlder: false,
        stretch: one.stretch && withOlderPage(one.stretch, found),
      }))
    } catch (error) {
      setState((one) => ({ ...one, isLoadingOlder: false, problem: problemFrom(error) }))
    }
  }
  return { ...state, loadOlder: () => void loadOlder(), retry: () => void listener.current?.newest() }
}
