/** The frame of the log, gaps and coverage tabs. */
import type { ComponentChildren, JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import type { ViewParams } from '../frame/unused_params.ts'
import { Title } from '../parts/title.tsx'
import { EventTabs } from './tabs.tsx'

type EventsViewProps = { title: string; params?: ViewParams; children: ComponentChildren }

export const EventsView = ({ title, params = {}, children }: EventsViewProps): JSX.Element => (
  <>
    <ScopeBar parts="place" />
    <main class="page" id="content">
      <UnusedNotice params={params} />
      <header class="page-head">
        <Title>{title}</Title>
        <EventTabs />
      </header>
      {children}
    </main>
  </>
)
