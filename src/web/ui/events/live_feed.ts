/** The live feed: loads the newest page, then adds events from the stream in batches. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf, type Problem, type Query } from '../http.ts'
import { readTogether } from '../loading/batched_reads.ts'
import { noteFeedRead, takeArrivedAnswer } from '../loading/remembered_reads.ts'
import { currentTime } from '../now.ts'
import { invalidate, problemFrom } from '../queries.ts'
import { openConnection } from './connection.ts'
import type { FeedEvent, FeedPage } from './feed_event.ts'
import { type FeedWindow, MAX_EVENTS, withNewEvents, withNewestPage, withOlderPage } from './feed_window.ts'

const EVENTS = '/api/v1/events'
const PAGE_SIZE = 50
/** Minimum interval between renders. */
const RENDER_INTERVAL_MS = 300

export type LiveFeed = {
  loaded: FeedWindow | null
  problem: Problem | null
  /** When the connection was lost; null while live. */
  lostAt: number | null
  /** Number of received events that are not shown yet. */
  waitingCount: number
  /** The newest seq at the first load. Events with a higher seq are marked as new. */
  firstNewestSeq: number
  loadOlder: () => void
  isLoadingOlder: boolean
  retry: () => void
}

type FeedState = Pick<
  LiveFeed,
  'loaded' | 'problem' | 'lostAt' | 'waitingCount' | 'firstNewestSeq' | 'isLoadingOlder'
>
const INITIAL_STATE: FeedState = {
  loaded: null,
  problem: null,
  lostAt: null,
  waitingCount: 0,
  firstNewestSeq: 0,
  isLoadingOlder: false,
}

type Matches = (event: FeedEvent) => boolean

/** The first state: with the newest page if it was read with the page and is there. */
function firstState(query: Query, matches: Matches): FeedState {
  const page = takeArrivedAnswer<FeedPage>(addressOf(EVENTS, pageQuery(query, null)))
  return page ? withFirstPage(INITIAL_STATE, pageOf(page, matches)) : INITIAL_STATE
}

const pageOf = ({ events, next }: FeedPage, matches: Matches): FeedWindow => ({
  events: events.filter(matches),
  next,
})

const pageQuery = (query: Query, before: number | null): Query => ({ ...query, limit: PAGE_SIZE, before })

type ListenerOptions = {
  query: Query
  setState: (change: (before: FeedState) => FeedState) => void
  matches: Matches
  /** The newest page is there. */
  isLoaded: boolean
  isPaused: () => boolean
  onEvent: (event: FeedEvent) => void
}

/** Loads the newest page and listens to the stream until `end` is called. */
function openListener({ query, setState, matches, isLoaded, isPaused, onEvent }: ListenerOptions) {
  let hasEnded = false
  let waiting: FeedEvent[] = []
  let renderTimer: ReturnType<typeof setTimeout> | undefined

  async function readPage(before: number | null): Promise<FeedWindow> {
    return pageOf(await readTogether<FeedPage>(EVENTS, pageQuery(query, before)), matches)
  }

  async function loadNewest(): Promise<void> {
    try {
      const found = await readPage(null)
      if (!hasEnded) setState((before) => withFirstPage(before, found))
    } catch (error) {
      if (!hasEnded) setState((before) => ({ ...before, problem: problemFrom(error) }))
    }
  }

  function render(): void {
    renderTimer = undefined
    if (hasEnded || waiting.length === 0) return
    if (isPaused()) return setState((before) => ({ ...before, waitingCount: waiting.length }))
    const newEvents = waiting
    waiting = []
    setState((before) => withLiveEvents(before, newEvents))
  }

  function onMessage(data: string): void {
    const event = JSON.parse(data) as FeedEvent
    if (!matches(event)) return
    waiting = [event, ...waiting].slice(0, MAX_EVENTS)
    onEvent(event)
    renderTimer ??= setTimeout(render, RENDER_INTERVAL_MS)
  }

  const disconnect = openConnection({
    address: addressOf(`${EVENTS}/stream`, query),
    onMessage: onMessage,
    onOpen: () => {
      setState((before) => (before.lostAt === null ? before : { ...before, lostAt: null }))
      // The stream starts at the current end of the feed, so load the newest page again for events before that.
      void loadNewest()
    },
    onLost: (isRefused) => {
      setState((before) => ({ ...before, lostAt: before.lostAt ?? currentTime() }))
      if (isRefused) void invalidate('/api/v1/session')
    },
  })
  if (!isLoaded) void loadNewest()

  function end(): void {
    hasEnded = true
    clearTimeout(renderTimer)
    disconnect()
  }

  return { readPage, loadNewest, release: render, end }
}

const withLiveEvents = (before: FeedState, newEvents: readonly FeedEvent[]): FeedState => ({
  ...before,
  waitingCount: 0,
  loaded: withNewEvents(before.loaded ?? { events: [], next: null }, newEvents),
})

function withFirstPage(before: FeedState, found: FeedWindow): FeedState {
  const loaded = before.loaded ? withNewestPage(before.loaded, found) : found
  // Without a change, nothing is rendered.
  if (loaded === before.loaded && before.problem === null) return before
  const firstNewestSeq = before.loaded ? before.firstNewestSeq : (found.events[0]?.seq ?? 0)
  return { ...before, problem: null, firstNewestSeq, loaded }
}

type Options = {
  query: Query
  /** An additional filter. */
  matches: Matches
  /** While true, rows do not change and new events are only counted. */
  isPaused: boolean
  onEvent: (event: FeedEvent) => void
}

export function useLiveFeed({ query, matches, isPaused, onEvent }: Options): LiveFeed {
  const [state, setState] = useState(() => firstState(query, matches))
  const isFirst = useRef(true)
  const listener = useRef<ReturnType<typeof openListener> | null>(null)
  const now = useRef({ matches, isPaused, onEvent })
  now.current = { matches, isPaused, onEvent }
  const key = JSON.stringify(query)
  useEffect(() => {
    const isLoaded = isFirst.current && state.loaded !== null
    isFirst.current = false
    if (!isLoaded) setState(INITIAL_STATE)
    const listening = openListener({
      query,
      setState,
      isLoaded,
      matches: (event) => now.current.matches(event),
      isPaused: () => now.current.isPaused,
      onEvent: (event) => now.current.onEvent(event),
    })
    listener.current = listening
    noteFeedRead(addressOf(EVENTS, pageQuery(query, null)))
    return () => {
      noteFeedRead(null)
      listening.end()
    }
  }, [key])
  useEffect(() => {
    if (!isPaused) listener.current?.release()
  }, [isPaused])

  const loadOlder = async (): Promise<void> => {
    const before = state.loaded?.next
    if (!listener.current || !before || state.isLoadingOlder) return
    setState((one) => ({ ...one, isLoadingOlder: true }))
    try {
      const found = await listener.current.readPage(before)
      setState((one) => ({
        ...one,
        isLoadingOlder: false,
        loaded: one.loaded && withOlderPage(one.loaded, found),
      }))
    } catch (error) {
      setState((one) => ({ ...one, isLoadingOlder: false, problem: problemFrom(error) }))
    }
  }
  return { ...state, loadOlder: () => void loadOlder(), retry: () => void listener.current?.loadNewest() }
}
