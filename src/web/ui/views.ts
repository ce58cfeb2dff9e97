/** Lazily loaded components of the views. */
import { lazy } from 'preact-iso'
import { viewAt } from './addresses.ts'

/** The component of each view, except the sign-in views, which page.tsx renders. */
export const COMPONENTS = {
  today: lazy(() => import('./today/today.tsx').then((module) => module.Today)),
  revenue: lazy(() => import('./revenue/revenue.tsx').then((module) => module.Revenue)),
  subscriptions: lazy(() =>
    import('./subscriptions/subscriptions.tsx').then((module) => module.Subscriptions),
  ),
  retention: lazy(() => import('./retention/retention.tsx').then((module) => module.Retention)),
  metrics: lazy(() => import('./metrics/metrics.tsx').then((module) => module.Metrics)),
  metric: lazy(() => import('./metrics/metric.tsx').then((module) => module.Metric)),
  customers: lazy(() => import('./customers/customers.tsx').then((module) => module.Customers)),
  customer: lazy(() => import('./customers/profile.tsx').then((module) => module.Profile)),
  user: lazy(() => import('./customers/user.tsx').then((module) => module.UserPage)),
  events: lazy(() => import('./events/events.tsx').then((module) => module.Events)),
  event: lazy(() => import('./events/event.tsx').then((module) => module.EventPage)),
  gaps: lazy(() => import('./events/gaps.tsx').then((module) => module.Gaps)),
  coverage: lazy(() => import('./events/coverage/coverage.tsx').then((module) => module.Coverage)),
  digests: lazy(() => import('./digests/digests.tsx').then((module) => module.Digests)),
  digest: lazy(() => import('./digests/digest.tsx').then((module) => module.Digest)),
  settings: lazy(() => import('./settings/settings.tsx').then((module) => module.Settings)),
  webhook: lazy(() => import('./settings/webhooks/endpoint_page.tsx').then((module) => module.EndpointPage)),
}

/** Loads the code of the view at a path, in parallel with the session. */
export function preloadView(path: string): void {
  const view = viewAt(path)?.view
  if (view === undefined || view === 'sign_in') return
  // An error here occurs again when the view renders, which reports it.
  void COMPONENTS[view].preload().catch(() => {})
}
