/** The frame of the log, gaps and coverage tabs. */
import type { ComponentChildren, JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { EventTabs } from './tabs.tsx'

export const EventsView = ({ children }: { children: ComponentChildren }): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Events</h1>
        <EventTabs />
      </header>
      {children}
    </main>
  </>
)
