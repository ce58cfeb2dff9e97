/** The component of each view, whose code is fetched when it is needed. */
import { lazy } from 'preact-iso'
import { viewAt } from './addresses.ts'

/** The component of each view. Those at the addresses for signing in are shown by the page itself. */
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
  settings: lazy(() => import('./settings/settings.tsx').then((module) => module.Settings)),
}

/** Fetches the code of the view at an address, while the server is still asked who it is. */
export function preloadView(path: string): void {
  const view = viewAt(path)?.view
  if (view === undefined || view === 'sign_in') return
  // What fails here fails again where the view is drawn, and is told there.
  void COMPONENTS[view].preload().catch(() => {})
}
