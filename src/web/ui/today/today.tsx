/** The Today view of the owner. */
import '../loading/event_views.ts'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { amountOf, eventLabel, KINDS } from '../events/event_labels.ts'
import type { FeedEvent } from '../events/feed_event.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { latePart } from '../loading/late.tsx'
import { currentTime } from '../now.ts'
import { Card } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { invalidate, type QueryResult, useQuery } from '../queries.ts'
import { displayQuery, sourceQuery, useScope } from '../scope.ts'
import { PendingApps } from '../settings/connect/connect_pending.tsx'
import { day, weekday } from '../words.ts'
import type { TodayFigures } from './certainty.ts'
import { Feed } from './feed.tsx'
import { Mrr, RevenueToday, Yesterday } from './figures.tsx'
import { FirstSteps, useAsksZone, useHasFirstSteps } from './first_steps.tsx'
import { MissingApps } from './missing_apps.tsx'
import { NoApps } from './no_apps.tsx'
import { FIRST_IMPORT, useStatus } from './status.ts'
import { System } from './system.tsx'
import { VerdictPill } from './verdict_pill.tsx'

const ZoneAnswer = latePart('The choice of the time zone', () =>
  import('../settings/alerts/time_zone.tsx').then((module) => module.ZoneAnswer),
)

/** Minimum interval between refreshes of the figures. */
const MIN_REFRESH_INTERVAL_MS = 10_000

/** Refreshes the figures after an event that changes them. */
function useRefreshOnEvent(): (event: FeedEvent) => void {
  const lastRefresh = useRef(0)
  return (event) => {
    const changesFigures =
      amountOf(event) !== null || ['trials', 'cancellations'].includes(eventLabel(event.type).kind)
    if (!changesFigures || currentTime() - lastRefresh.current < MIN_REFRESH_INTERVAL_MS) return
    lastRefresh.current = currentTime()
    setTimeout(() => void invalidate('/api/v1/today'), 1_000)
  }
}

/** Queries today's figures. */
function useToday(): QueryResult<TodayFigures> {
  const { scope } = useScope()
  const basis = scope.basis === 'gross' ? null : scope.basis
  const query = { ...sourceQuery(scope), ...displayQuery(scope), currency: scope.currency, basis }
  const apps = useApps()
  // Without a connected app there is nothing to request.
  const hasNoApps = apps.problem === null && (apps.data?.apps.length ?? 0) === 0
  return useQuery<TodayFigures>('/api/v1/today', query, { interval_ms: 60_000, wait: hasNoApps })
}

function Figures(): JSX.Element {
  const result = useToday()
  const hasFirstSteps = useHasFirstSteps()
  if (useApps().data?.apps.length === 0) return hasFirstSteps ? <PendingApps /> : <NoApps />
  if (!result.data && result.problem) return <MissingApps problem={result.problem} again={result.retry} />
  return (
    <QueryView result={result} height={286}>
      {(today) => (
        <div class="today-figures">
          <RevenueToday today={today} />
          <Yesterday today={today} />
          <Mrr today={today} />
        </div>
      )}
    </QueryView>
  )
}

/** The height of the form for the time zone on a phone: a label, a choice and a button. */
const ZONE_ANSWER_PX = 112

/** Asks for the time zone. Its form loads late, into a place of its height, so that nothing below moves. */
const ZoneQuestion = (): JSX.Element => (
  <Card title="Which time zone is yours?">
    <p class="small quiet">
      The days of all charts, quiet hours and digests follow it. Until you choose one, they are those of UTC.
      After that, all figures are counted again in the background.
    </p>
    <div style={{ marginTop: '12px', minHeight: `${ZONE_ANSWER_PX}px` }}>
      <ZoneAnswer />
    </div>
  </Card>
)

function ForOwner(): JSX.Element {
  const status = useStatus()
  const isEmpty = useApps().data?.apps.length === 0
  const asksZone = useAsksZone()
  const refreshFigures = useRefreshOnEvent()
  return (
    <>
      {status.data && <System rows={status.data.rows.filter(({ id }) => id !== FIRST_IMPORT)} />}
      {asksZone && <ZoneQuestion />}
      {isEmpty && <FirstSteps />}
      <Figures />
      {!isEmpty && <FirstSteps />}
      <Feed onEvent={refreshFigures} />
    </>
  )
}

function Head(): JSX.Element {
  const status = useStatus()
  const today = useToday().data?.today_on
  return (
    <header class="page-head">
      <Title>Today</Title>
      {today && (
        <p>
          {weekday(today)}, {day(today)}
        </p>
      )}
      {status.data?.verdict && <VerdictPill verdict={status.data.verdict} />}
    </header>
  )
}

export const Today = (): JSX.Element => (
  <>
    <ScopeBar parts="money" />
    <main class="page" id="content">
      <UnusedNotice params={{ kind: KINDS }} />
      <Head />
      <ForOwner />
    </main>
  </>
)
