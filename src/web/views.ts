/** The paths of the dashboard's views. The server answers each with the page, and the page renders the view. */

/**
 * How the navigation shows a view. `icon` is a name in ui/parts/icons.tsx; `guestTitle` differs where guests see another
 * view; G and then `key` open the view.
 */
type Navigation = { title: string; guestTitle?: string; icon: string; key: string; isOnPhone: boolean }

/** The files of code that the pages of some views load at once; tools/bundle.mjs has their paths. */
export type ViewCode = 'today' | 'figure_views' | 'event_views'

/**
 * `section` is the view that the navigation marks as current at this path. `needsAllMetrics`: guests of a link that is
 * limited to some metrics do not have this view.
 */
type ViewAddress = {
  path: string
  view: string
  code?: ViewCode
  section: string | null
  isForGuests: boolean
  needsAllMetrics?: true
  navigation?: Navigation
}

/**
 * All paths. The navigation shows its views in this order. A new view needs an entry here and a component in
 * ui/views.ts.
 */
export const VIEWS = [
  {
    path: '/',
    view: 'today',
    code: 'today',
    section: 'today',
    isForGuests: true,
    navigation: { title: 'Today', guestTitle: 'Overview', icon: 'today', key: 't', isOnPhone: true },
  },
  {
    path: '/revenue',
    view: 'revenue',
    code: 'figure_views',
    section: 'revenue',
    isForGuests: true,
    needsAllMetrics: true,
    navigation: { title: 'Revenue', icon: 'revenue', key: 'r', isOnPhone: true },
  },
  {
    path: '/refunds',
    view: 'refunds',
    code: 'figure_views',
    section: 'refunds',
    isForGuests: false,
    navigation: { title: 'Refunds', icon: 'undo', key: 'f', isOnPhone: false },
  },
  {
    path: '/subscriptions',
    view: 'subscriptions',
    code: 'figure_views',
    section: 'subscriptions',
    isForGuests: true,
    needsAllMetrics: true,
    navigation: { title: 'Subscriptions', icon: 'subscriptions', key: 's', isOnPhone: true },
  },
  {
    path: '/retention',
    view: 'retention',
    code: 'figure_views',
    section: 'retention',
    isForGuests: true,
    needsAllMetrics: true,
    navigation: { title: 'Trials & retention', icon: 'retention', key: 'n', isOnPhone: false },
  },
  {
    path: '/metrics',
    view: 'metrics',
    code: 'figure_views',
    section: 'metrics',
    isForGuests: true,
    navigation: { title: 'All metrics', icon: 'chart', key: 'm', isOnPhone: false },
  },
  { path: '/metrics/:name', view: 'metric', code: 'figure_views', section: 'metrics', isForGuests: true },
  {
    path: '/customers',
    view: 'customers',
    code: 'event_views',
    section: 'customers',
    isForGuests: false,
    navigation: { title: 'Customers', icon: 'customers', key: 'c', isOnPhone: true },
  },
  { path: '/customers/:id', view: 'customer', code: 'event_views', section: 'customers', isForGuests: false },
  { path: '/users/:id', view: 'user', code: 'event_views', section: 'customers', isForGuests: false },
  {
    path: '/events',
    view: 'events',
    code: 'event_views',
    section: 'events',
    isForGuests: false,
    navigation: { title: 'Events', icon: 'events', key: 'e', isOnPhone: false },
  },
  { path: '/events/:id', view: 'event', code: 'event_views', section: 'events', isForGuests: false },
  { path: '/gaps', view: 'gaps', code: 'event_views', section: 'events', isForGuests: false },
  { path: '/coverage', view: 'coverage', code: 'event_views', section: 'events', isForGuests: false },
  { path: '/digests', view: 'digests', section: 'today', isForGuests: false },
  { path: '/digests/:id', view: 'digest', section: 'today', isForGuests: false },
  {
    path: '/settings',
    view: 'settings',
    section: 'settings',
    isForGuests: false,
    navigation: { title: 'Settings', icon: 'settings', key: ',', isOnPhone: false },
  },
  { path: '/settings/:section', view: 'settings', section: 'settings', isForGuests: false },
  { path: '/settings/webhooks/:id', view: 'webhook', section: 'settings', isForGuests: false },
  { path: '/setup', view: 'sign_in', section: null, isForGuests: true },
  { path: '/login', view: 'sign_in', section: null, isForGuests: true },
  { path: '/share', view: 'sign_in', section: null, isForGuests: true },
] as const satisfies readonly ViewAddress[]
