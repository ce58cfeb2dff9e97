/** The frame of the log, gaps and coverage tabs. */
import type { ComponentChildren, JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { Title } from '../parts/title.tsx'
import { EventTabs } from './tabs.tsx'

export const EventsView = ({ children }: { children: ComponentChildren }): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <Title>Events</Title>
        <EventTabs />
      </header>
      {children}
    </main>
  </>
)
