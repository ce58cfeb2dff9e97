/** The event log with filters and live updates. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Empty, Failed, Placeholder } from '../parts/query_view.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { useQueryParams, useScope } from '../scope.ts'
import { clock, plural } from '../words.ts'
import { EventDialog } from './event_dialog.tsx'
import { EventsView } from './events_view.tsx'
import { FilterBar } from './filter_bar.tsx'
import { feedQuery, filtersIn, isWanted } from './filters.ts'
import { type LiveFeed, useLiveFeed } from './live_feed.ts'
import { EventRows } from './rows.tsx'

const nothing = (): void => {}

export function Events(): JSX.Element {
  const { scope } = useScope()
  const [words, change] = useQueryParams()
  const filters = filtersIn(words)
  const [isPendingShown, showPending] = useState(false)
  const isLive = words.live === '1'
  const feed = useLiveFeed({
    query: feedQuery(scope, filters),
    matches: isWanted(scope, filters),
    // New events do not move the list while the user reads, unless live mode is on.
    isHeld: !isLive && !isPendingShown,
    onEvent: nothing,
  })
  const showNews = (): void => {
    showPending(true)
    setTimeout(() => showPending(false), 0)
  }
  return (
    <EventsView>
      <div class="row log-tools">
        <FilterBar filters={filters} />
        <button
          type="button"
          class="chip"
          aria-pressed={isLive}
          onClick={() => change({ live: isLive ? null : 1 })}
        >
          <span class={`pulse ${feed.lostAt === null ? (isLive ? 'is-live' : '') : 'is-lost'}`}>
            <span class="pulse-dot" />
          </span>
          {feed.lostAt === null ? 'Live' : `Reconnecting since ${clock(feed.lostAt)}`}
        </button>
      </div>
      <EventLog feed={feed} showNews={showNews} />
      {words.event && <EventDialog id={words.event} onClose={() => change({ event: null })} />}
    </EventsView>
  )
}

function NoEvents(): JSX.Element {
  const [words] = useQueryParams()
  const { scope } = useScope()
  const isChosen = scope.apps.length > 0 || Object.values(words).some(Boolean)
  return isChosen ? (
    <Empty icon="events" title="No matching events">
      <p>No event matches these filters.</p>
    </Empty>
  ) : (
    <Empty icon="events" title="No events yet">
      <p>Events appear within a second of Apple’s notification.</p>
    </Empty>
  )
}

function EventLog({ feed, showNews }: { feed: LiveFeed; showNews: () => void }): JSX.Element {
  const { stretch, problem, retry, waiting, loadOlder, isLoadingOlder } = feed
  if (stretch === null)
    return (
      <section class="card">
        {problem ? <Failed problem={problem} retry={retry} /> : <Placeholder height={640} />}
      </section>
    )
  return (
    <section class="card log">
      <h2 class="spoken">Log</h2>
      {waiting > 0 && (
        <button type="button" class="button log-news" onClick={showNews}>
          {plural(waiting, 'new event')}
        </button>
      )}
      {stretch.events.length === 0 && stretch.next === null ? <NoEvents /> : <Rows feed={feed} />}
      <ShowMore
        more={stretch.next === null ? null : loadOlder}
        isBusy={isLoadingOlder}
        problem={problem}
        label="Show older"
      />
    </section>
  )
}

function Rows({ feed }: { feed: LiveFeed }): JSX.Element {
  const { href } = useScope()
  const [words] = useQueryParams()
  const to = (id: string): string => href('/events', { ...words, event: id })
  return <EventRows feed={feed} label="Events, newest first" to={to} />
}
