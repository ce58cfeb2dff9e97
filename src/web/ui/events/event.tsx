/** The page of one event. */
import '../loading/event_views.ts'
import type { JSX } from 'preact'
import { useRoute } from 'preact-iso/router'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { BackLink } from '../parts/back_link.tsx'
import { Title } from '../parts/title.tsx'
import { EventDetails } from './event_details.tsx'

export function EventPage(): JSX.Element {
  const { params } = useRoute()
  return (
    <>
      <ScopeBar parts="place" />
      <main class="page narrow" id="content">
        <UnusedNotice />
        <BackLink to="/events" title="Events" />
        <Title>Event</Title>
        <section class="card card-pad">
          <EventDetails id={params.id ?? ''} Title="h2" />
        </section>
      </main>
    </>
  )
}
