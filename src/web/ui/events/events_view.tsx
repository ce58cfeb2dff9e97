/** The frame of the log, gaps and coverage tabs. */
import type { ComponentChildren, JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { Title } from '../parts/title.tsx'
import { EventTabs } from './tabs.tsx'

type EventsViewProps = { title: string; children: ComponentChildren }

export const EventsView = ({ title, children }: EventsViewProps): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <Title>{title}</Title>
        <EventTabs />
      </header>
      {children}
    </main>
  </>
)
