/** The event log with filters and live updates. */
import '../loading/event_views.ts'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf } from '../http.ts'
import { lateDialog } from '../loading/late.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Failed, Placeholder } from '../parts/query_view.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { ANY, useQueryParams, useScope } from '../scope.ts'
import { clock, plural } from '../words.ts'
import { EventsView } from './events_view.tsx'
import { FilterBar } from './filter_bar.tsx'
import { eventMatcher, FILTER_PARAMS, feedQuery, filtersIn } from './filters.ts'
import { type LiveFeed, useLiveFeed } from './live_feed.ts'
import { EventRows } from './rows.tsx'

const EventDialog = lateDialog('Event', () =>
  import('./event_dialog.tsx').then((module) => module.EventDialog),
)
const PARAMS = { ...FILTER_PARAMS, live: ['1'], event: ANY }

const ignoreEvent = (): void => {}

export function Events(): JSX.Element {
  const { scope } = useScope()
  const [params, change] = useQueryParams()
  const filters = filtersIn(params)
  const [isPendingShown, showPending] = useState(false)
  const isLive = params.live === '1'
  const query = feedQuery(scope, filters)
  const feed = useLiveFeed({
    query,
    matches: eventMatcher(scope, filters),
    // New events do not move the list while the user reads, unless live mode is on.
    isPaused: !isLive && !isPendingShown,
    onEvent: ignoreEvent,
  })
  const showNewEvents = (): void => {
    showPending(true)
    setTimeout(() => showPending(false), 0)
  }
  return (
    <EventsView title="Events" params={PARAMS}>
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
        <a class="button plain" href={addressOf('/api/v1/events.csv', query)} download>
          <Icon name="download" /> CSV
        </a>
      </div>
      <EventLog feed={feed} showNewEvents={showNewEvents} />
      {params.event && <EventDialog id={params.event} onClose={() => change({ event: null })} />}
    </EventsView>
  )
}

function NoEvents(): JSX.Element {
  const [params] = useQueryParams()
  const { scope } = useScope()
  const isFiltered = scope.apps.length > 0 || Object.values(params).some(Boolean)
  return isFiltered ? (
    <Empty icon="events" title="No matching events">
      <p>No event matches these filters.</p>
    </Empty>
  ) : (
    <Empty icon="events" title="No events yet">
      <p>Events appear within a second of Apple’s notification.</p>
    </Empty>
  )
}

function EventLog({ feed, showNewEvents }: { feed: LiveFeed; showNewEvents: () => void }): JSX.Element {
  const { loaded, problem, retry, waitingCount, loadOlder, isLoadingOlder } = feed
  if (loaded === null)
    return (
      <section class="card">
        {problem ? <Failed problem={problem} retry={retry} /> : <Placeholder height={640} />}
      </section>
    )
  return (
    <section class="card log">
      <h2 class="spoken">Log</h2>
      {waitingCount > 0 && (
        <button type="button" class="button log-news" onClick={showNewEvents}>
          {plural(waitingCount, 'new event')}
        </button>
      )}
      {loaded.events.length === 0 && loaded.next === null ? <NoEvents /> : <Rows feed={feed} />}
      <ShowMore
        more={loaded.next === null ? null : loadOlder}
        isBusy={isLoadingOlder}
        problem={problem}
        label="Show older"
      />
    </section>
  )
}

function Rows({ feed }: { feed: LiveFeed }): JSX.Element {
  const { href } = useScope()
  const [params] = useQueryParams()
  const eventHref = (id: string): string => href('/events', { ...params, event: id })
  return <EventRows feed={feed} label="Events, newest first" to={eventHref} />
}
