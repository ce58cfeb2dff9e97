/** The live feed below the figures of today, filtered by kind. */
import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { KIND_TITLES, KINDS, type Kind, typesOf } from '../events/event_labels.ts'
import type { FeedEvent } from '../events/feed_event.ts'
import { type LiveFeed, useLiveFeed } from '../events/live_feed.ts'
import { EventRows } from '../events/rows.tsx'
import { Empty, Failed, Placeholder } from '../parts/query_view.tsx'
import { useQueryParams, useScope } from '../scope.ts'
import { clock, plural } from '../words.ts'

/** The types of all kinds but users. */
const TYPES_BUT_USERS = KINDS.filter((kind) => kind !== 'people')
  .map(typesOf)
  .join(',')

const kindFrom = (text: string | undefined): Kind | null => KINDS.find((one) => one === text) ?? null

function Chips({ kind, onPick }: { kind: Kind | null; onPick: (kind: Kind | null) => void }): JSX.Element {
  return (
    <fieldset class="chips plain-set" aria-label="Event types">
      {([null, ...KINDS] as const).map((one) => (
        <button
          key={one}
          type="button"
          class="chip"
          aria-pressed={one === kind}
          onClick={() => onPick(one === kind ? null : one)}
        >
          {one === null ? 'All' : KIND_TITLES[one]}
        </button>
      ))}
    </fieldset>
  )
}

const Pulse = ({ lostAt, isHeld }: { lostAt: number | null; isHeld: boolean }): JSX.Element => (
  <span class={`pulse ${lostAt === null ? 'is-live' : 'is-lost'}`} role="status">
    <span class="pulse-dot" />
    {lostAt !== null
      ? `Reconnecting since ${clock(lostAt)}`
      : isHeld
        ? 'Live, paused while you read'
        : 'Live'}
  </span>
)

/** Whether an element has scrolled out of view at the top. */
function useScrolledPast(): [(element: HTMLElement | null) => void, boolean] {
  const [isPast, setPast] = useState(false)
  const observer = useRef<IntersectionObserver | null>(null)
  const observe = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect()
    if (!element) return
    observer.current = new IntersectionObserver(([entry]) =>
      setPast(entry !== undefined && !entry.isIntersecting && entry.boundingClientRect.top < 0),
    )
    observer.current.observe(element)
  }, [])
  return [observe, isPast]
}

/** Pauses the feed while the pointer or focus is on a row, or while the list is scrolled down. */
function useHold() {
  const [isOver, setOver] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const [top, isPast] = useScrolledPast()
  const holdHandlers = {
    onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && setOver(true),
    onPointerLeave: () => setOver(false),
    onFocusIn: () => setFocused(true),
    onFocusOut: (event: FocusEvent) =>
      setFocused((event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)),
  }
  return { isPaused: isOver || isFocused || isPast, isPast, top, holdHandlers }
}

/** Loads older events when it scrolls into view, or on click. */
function Older({ feed }: { feed: LiveFeed }): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null)
  const load = useRef(feed.loadOlder)
  load.current = feed.loadOlder
  const next = feed.loaded?.next ?? null
  useEffect(() => {
    if (!box.current || next === null) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load.current(), {
      rootMargin: '200px',
    })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [next])
  if (next === null) return <p class="tiny quiet feed-end">Start of the feed</p>
  return (
    <div ref={box} class="feed-end">
      <button type="button" class="button" disabled={feed.isLoadingOlder} onClick={feed.loadOlder}>
        {feed.isLoadingOlder ? 'Loading older events' : 'Show more'}
      </button>
    </div>
  )
}

/**
 * The kind of the feed. Users would push sales aside, so the feed of all kinds has none, unless there is nothing else, as
 * before the first sale.
 */
function useTypes(kind: Kind | null) {
  const [hasOnlyUsers, setOnlyUsers] = useState(false)
  const types = kind === null && !hasOnlyUsers ? TYPES_BUT_USERS : typesOf(kind)
  const noteLoaded = (loaded: LiveFeed['loaded']): void => {
    if (kind === null && loaded?.events.length === 0 && loaded.next === null) setOnlyUsers(true)
  }
  return { types, noteLoaded }
}

function NoEvents({ kind }: { kind: Kind | null }): JSX.Element {
  return (
    <Empty icon="today" title={kind ? `No ${KIND_TITLES[kind].toLowerCase()} yet` : 'No events yet'}>
      <p>Events appear within a second of Apple’s notification.</p>
    </Empty>
  )
}

function Body({
  feed,
  kind,
  holdHandlers,
}: {
  feed: LiveFeed
  kind: Kind | null
  holdHandlers: object
}): JSX.Element {
  if (feed.loaded === null)
    return feed.problem ? <Failed problem={feed.problem} retry={feed.retry} /> : <Placeholder height={520} />
  const isEmpty = feed.loaded.events.length === 0
  return (
    <>
      {isEmpty && feed.loaded.next === null ? (
        <NoEvents kind={kind} />
      ) : (
        <EventRows feed={feed} label="Events, newest first" holding={holdHandlers} />
      )}
      {!(isEmpty && feed.loaded.next === null) && <Older feed={feed} />}
    </>
  )
}

/** `onEvent` is called with each new event. */
export function Feed({ onEvent }: { onEvent: (event: FeedEvent) => void }): JSX.Element {
  const { scope } = useScope()
  const [params, change] = useQueryParams()
  const kind = kindFrom(params.kind)
  const apps = useApps().data?.apps ?? []
  const { isPaused, isPast, top, holdHandlers } = useHold()
  const organizationApps = apps.filter(({ organization_id }) => organization_id === scope.organization)
  const chosen = scope.apps.length > 0 ? scope.apps : organizationApps.map(({ id }) => id)
  // Events without an environment, such as users and imports, are shown with production. These kinds have only such.
  const hasNoEnvironment = kind === 'people' || kind === 'others'
  const isSandboxOnly = scope.environment === 'sandbox' && !hasNoEnvironment
  const { types, noteLoaded } = useTypes(kind)
  const feed = useLiveFeed({
    query: { app: chosen.join(','), environment: isSandboxOnly ? 'sandbox' : null, type: types },
    matches: ({ environment }) => environment === null || environment === scope.environment,
    isPaused,
    onEvent,
  })
  useEffect(() => noteLoaded(feed.loaded), [feed.loaded])
  return (
    <section class="card feed" aria-labelledby="feed-title">
      <header class="feed-head">
        <div class="spread">
          <h2 id="feed-title">Latest events</h2>
          <Pulse lostAt={feed.lostAt} isHeld={isPaused && feed.waitingCount > 0} />
        </div>
        <Chips kind={kind} onPick={(one) => change({ kind: one })} />
      </header>
      <span ref={top} class="feed-top" />
      {isPast && feed.waitingCount > 0 && (
        <button
          type="button"
          class="button main feed-news"
          onClick={() => document.getElementById('feed-title')?.scrollIntoView({ block: 'center' })}
        >
          {plural(feed.waitingCount, 'new event')}
        </button>
      )}
      <Body feed={feed} kind={kind} holdHandlers={holdHandlers} />
    </section>
  )
}
