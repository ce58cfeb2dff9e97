/** The feed as it happens: what was, then what comes, in batches that eyes and a phone can follow. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemFrom, renew } from '../answers.ts'
import { addressOf, type Problem, type Query, read } from '../http.ts'
import { currentTime } from '../now.ts'
import { openConnection } from './connection.ts'
import type { FeedEvent, FeedPage } from './feed_event.ts'
import { MOST, type Stretch, withNewest, withNews, withOlder } from './stretch.ts'

const PAGE = 50
/** Rows are drawn at most this often. */
const DRAW_EVERY_MS = 300

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
  stretch: null,
  problem: null,
  lostAt: null,
  waiting: 0,
  seenUntil: 0,
  isLoadingOlder: false,
}

type Listening = {
  query: Query
  tell: (change: (before: Told) => Told) => void
  wants: (event: FeedEvent) => boolean
  isHeld: () => boolean
  onNews: (event: FeedEvent) => void
}

/** Listens until it is ended. */
function openListening({ query, tell, wants, isHeld, onNews }: Listening) {
  let isOver = false
  let waiting: FeedEvent[] = []
  let drawing: ReturnType<typeof setTimeout> | undefined

  async function page(before: number | null): Promise<Stretch> {
    const { events, next } = await read<FeedPage>('/api/v1/events', { ...query, limit: PAGE, before })
    return { events: events.filter(wants), next }
  }

  async function newest(): Promise<void> {
    try {
      const found = await page(null)
      if (!isOver) tell((before) => begun(before, found))
    } catch (error) {
      if (!isOver) tell((before) => ({ ...before, problem: problemFrom(error) }))
    }
  }

  function draw(): void {
    drawing = undefined
    if (isOver || waiting.length === 0) return
    if (isHeld()) return tell((before) => ({ ...before, waiting: waiting.length }))
    const news = waiting
    waiting = []
    const nothing = { events: [], next: null }
    tell((before) => ({ ...before, waiting: 0, stretch: withNews(before.stretch ?? nothing, news) }))
  }

  function arrived(data: string): void {
    const event = JSON.parse(data) as FeedEvent
    if (!wants(event)) return
    waiting = [event, ...waiting].slice(0, MOST)
    onNews(event)
    drawing ??= setTimeout(draw, DRAW_EVERY_MS)
  }

  const disconnect = openConnection({
    address: addressOf('/api/v1/events/stream', query),
    onMessage: arrived,
    onOpen: () => {
      tell((before) => ({ ...before, lostAt: null }))
      // The stream begins where the feed ends just now: what happened before that is asked for once it is open.
      void newest()
    },
    onLost: (isRefused) => {
      tell((before) => ({ ...before, lostAt: before.lostAt ?? currentTime() }))
      if (isRefused) void renew('/api/v1/session')
    },
  })
  void newest()

  function end(): void {
    isOver = true
    clearTimeout(drawing)
    disconnect()
  }

  return { page, newest, release: draw, end }
}

const begun = (before: Told, found: Stretch): Told => ({
  ...before,
  problem: null,
  seenUntil: before.stretch ? before.seenUntil : (found.events[0]?.seq ?? 0),
  stretch: before.stretch ? withNewest(before.stretch, found) : found,
})

type Options = {
  query: Query
  /** What else is left out. */
  wants: (event: FeedEvent) => boolean
  /** While true, rows stand still and what arrives waits. */
  isHeld: boolean
  onNews: (event: FeedEvent) => void
}

export function useLiveFeed({ query, wants, isHeld, onNews }: Options): LiveFeed {
  const [told, tell] = useState<Told>(NOTHING)
  const listener = useRef<ReturnType<typeof openListening> | null>(null)
  const now = useRef({ wants, isHeld, onNews })
  now.current = { wants, isHeld, onNews }
  const key = JSON.stringify(query)
  useEffect(() => {
    tell(NOTHING)
    const listening = openListening({
      query,
      tell,
      wants: (event) => now.current.wants(event),
      isHeld: () => now.current.isHeld,
      onNews: (event) => now.current.onNews(event),
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
