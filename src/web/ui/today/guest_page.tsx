/** The frame of the first view of guests. Guests cannot read today's figures. */
import type { ComponentChildren, JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import type { ViewParams } from '../frame/unused_params.ts'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { Title } from '../parts/title.tsx'

type GuestPageProps = { params: ViewParams; children: ComponentChildren }

export const GuestPage = ({ params, children }: GuestPageProps): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <UnusedNotice params={params} />
      <header class="page-head">
        <Title>Overview</Title>
      </header>
      <RequireFigures>{children}</RequireFigures>
    </main>
  </>
)
