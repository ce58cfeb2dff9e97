/** The views of figures, which share most of their code. Loaded as one file, they need few requests. */
import { Metric } from '../metrics/metric.tsx'
import { Metrics } from '../metrics/metrics.tsx'
import { Retention } from '../retention/retention.tsx'
import { Refunds } from '../revenue/refunds.tsx'
import { Revenue } from '../revenue/revenue.tsx'
import { Subscriptions } from '../subscriptions/subscriptions.tsx'
import { GuestOverview } from '../today/guest_overview.tsx'
import { SharedMetrics } from '../today/shared_metrics.tsx'

export const FIGURE_VIEWS = {
  revenue: Revenue,
  refunds: Refunds,
  subscriptions: Subscriptions,
  retention: Retention,
  metrics: Metrics,
  metric: Metric,
  guest_overview: GuestOverview,
  shared_metrics: SharedMetrics,
}
