/** Lazily loaded components of the views. */
import type { FunctionComponent } from 'preact'
import { lazy } from 'preact-iso'
import { viewAt } from './addresses.ts'
import { UnloadedView } from './parts/unloaded_view.tsx'

/** A component that loads when it is first shown. Without its code it asks for a reload. */
const view = <Props>(load: () => Promise<FunctionComponent<Props>>) =>
  lazy<FunctionComponent<Props>>(() => load().catch(() => UnloadedView))

const figureViews = () => import('./loading/figure_views.ts').then((module) => module.FIGURE_VIEWS)
const eventViews = () => import('./loading/event_views.ts').then((module) => module.EVENT_VIEWS)

/** The component of each view, except the sign-in views, which page.tsx renders. */
export const COMPONENTS = {
  today: view(() => import('./today/today.tsx').then((module) => module.Today)),
  revenue: view(() => figureViews().then(({ revenue }) => revenue)),
  refunds: view(() => figureViews().then(({ refunds }) => refunds)),
  subscriptions: view(() => figureViews().then(({ subscriptions }) => subscriptions)),
  retention: view(() => figureViews().then(({ retention }) => retention)),
  metrics: view(() => figureViews().then(({ metrics }) => metrics)),
  metric: view(() => figureViews().then(({ metric }) => metric)),
  customers: view(() => eventViews().then(({ customers }) => customers)),
  customer: view(() => eventViews().then(({ customer }) => customer)),
  user: view(() => eventViews().then(({ user }) => user)),
  events: view(() => eventViews().then(({ events }) => events)),
  event: view(() => eventViews().then(({ event }) => event)),
  gaps: view(() => eventViews().then(({ gaps }) => gaps)),
  coverage: view(() => eventViews().then(({ coverage }) => coverage)),
  digests: view(() => import('./digests/digests.tsx').then((module) => module.Digests)),
  digest: view(() => import('./digests/digest.tsx').then((module) => module.Digest)),
  settings: view(() => import('./settings/settings.tsx').then((module) => module.Settings)),
  webhook: view(() => import('./settings/webhooks/endpoint_page.tsx').then((module) => module.EndpointPage)),
}

/** The first view of guests, and that of guests whose link is limited to some metrics. */
export const GUEST_COMPONENTS = {
  overview: view(() => figureViews().then((views) => views.guest_overview)),
  shared_metrics: view(() => figureViews().then((views) => views.shared_metrics)),
}

/** Loads the code of the view at a path, in parallel with the session. */
export function preloadView(path: string): void {
  const view = viewAt(path)?.view
  if (view === undefined || view === 'sign_in') return
  void COMPONENTS[view].preload()
}
