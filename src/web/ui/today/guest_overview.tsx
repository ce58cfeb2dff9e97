/** The first view of guests: metric cards. Guests cannot read today's figures. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { Title } from '../parts/title.tsx'

const PARAMS = metricCardParams('revenue', 'mrr', 'new_trials', 'refund_rate')

export const GuestOverview = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <UnusedNotice params={PARAMS} />
      <header class="page-head">
        <Title>Overview</Title>
      </header>
      <RequireFigures>
        <div class="grid">
          <MetricCard name="revenue" isInParts class="half" />
          <MetricCard name="mrr" isCompared class="half" />
          <MetricCard name="new_trials" class="half" />
          <MetricCard name="refund_rate" class="half" />
        </div>
      </RequireFigures>
    </main>
  </>
)
