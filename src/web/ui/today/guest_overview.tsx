/** The first view of guests: metric cards. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { GuestPage } from './guest_page.tsx'

const PARAMS = metricCardParams('revenue', 'mrr', 'new_trials', 'refund_rate')

export const GuestOverview = (): JSX.Element => (
  <GuestPage params={PARAMS}>
    <div class="grid">
      <MetricCard name="revenue" isInParts class="half" />
      <MetricCard name="mrr" isCompared class="half" />
      <MetricCard name="new_trials" class="half" />
      <MetricCard name="refund_rate" class="half" />
    </div>
  </GuestPage>
)
