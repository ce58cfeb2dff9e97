/** One event on a page of its own, to be kept and sent. */
import type { JSX } from 'preact'
import { useRoute } from 'preact-iso'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { Icon } from '../parts/icons.tsx'
import { useScope } from '../scope.ts'
import { EventWhole } from './event_whole.tsx'

export function EventPage(): JSX.Element {
  const { params } = useRoute()
  const { href } = useScope()
  return (
    <>
      <ScopeBar parts="place" />
      <main class="page narrow" id="content">
        <nav aria-label="Up">
          <a class="back" href={href('/events')}>
            <Icon name="left" /> Events
          </a>
        </nav>
        <h1>Event</h1>
        <section class="card card-pad">
          <EventWhole id={params.id ?? ''} />
        </section>
      </main>
    </>
  )
}
