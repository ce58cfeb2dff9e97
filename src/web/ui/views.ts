/** Lazily loaded components of the views. */
import type { FunctionComponent } from 'preact'
import lazy from 'preact-iso/lazy'
import { viewAt } from './addresses.ts'
import { UnloadedView } from './loading/unloaded_view.tsx'
import { sectionAt } from './settings/section_components.ts'

/** A component that loads when it is first shown. Without its code it asks for a reload. */
const view = <Props>(load: () => Promise<FunctionComponent<Props>>) =>
  lazy<FunctionComponent<Props>>(() => load().catch(() => UnloadedView))

/** The component of each view. The pages of src/web/front.ts load the file of their view at once. */
export const COMPONENTS = {
  today: view(() => import('./today/today.tsx').then((module) => module.Today)),
  revenue: view(() => import('./revenue/revenue.tsx').then((module) => module.Revenue)),
  refunds: view(() => import('./revenue/refunds.tsx').then((module) => module.Refunds)),
  subscriptions: view(() =>
    import('./subscriptions/subscriptions.tsx').then((module) => module.Subscriptions),
  ),
  retention: view(() => import('./retention/retention.tsx').then((module) => module.Retention)),
  metrics: view(() => import('./metrics/metrics.tsx').then((module) => module.Metrics)),
  metric: view(() => import('./metrics/metric.tsx').then((module) => module.Metric)),
  customers: view(() => import('./customers/customers.tsx').then((module) => module.Customers)),
  customer: view(() => import('./customers/profile.tsx').then((module) => module.Profile)),
  user: view(() => import('./customers/user.tsx').then((module) => module.UserPage)),
  events: view(() => import('./events/events.tsx').then((module) => module.Events)),
  event: view(() => import('./events/event.tsx').then((module) => module.EventPage)),
  gaps: view(() => import('./events/gaps.tsx').then((module) => module.Gaps)),
  coverage: view(() => import('./events/coverage/coverage.tsx').then((module) => module.Coverage)),
  digests: view(() => import('./digests/digests.tsx').then((module) => module.Digests)),
  digest: view(() => import('./digests/digest.tsx').then((module) => module.Digest)),
  settings: view(() => import('./settings/settings.tsx').then((module) => module.Settings)),
  sign_in: view(() => import('./sign_in/sign_in.tsx').then((module) => module.SignIn)),
  webhook: view(() => import('./settings/webhooks/endpoint_page.tsx').then((module) => module.EndpointPage)),
}

/** The first view of guests, and that of guests whose link is limited to some metrics. */
export const GUEST_COMPONENTS = {
  overview: view(() => import('./today/guest_overview.tsx').then((module) => module.GuestOverview)),
  shared_metrics: view(() => import('./today/shared_metrics.tsx').then((module) => module.SharedMetrics)),
}

/** Loads the code of the view at a path, in parallel with the session. */
export async function preloadView(path: string): Promise<void> {
  const view = viewAt(path)?.view
  if (view === undefined) return
  await Promise.all([COMPONENTS[view].preload(), view === 'settings' && sectionAt(path)?.preload()])
}
