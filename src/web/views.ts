/** The paths of the dashboard's views. The server answers each with the page, and the page renders the view. */

/**
 * How the navigation shows a view. `icon` is a name in ui/parts/icons.tsx; `guestTitle` differs where guests see another
 * view; G and then `key` open the view.
 */
type Navigation = { title: string; guestTitle?: string; icon: string; key: string; isOnPhone: boolean }

/**
 * `section` is the view that the navigation marks as current at this path. `needsAllMetrics`: guests of a link that is
 * limited to some metrics do not have this view.
 */
type ViewAddress = {
  path: string
  view: string
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
    section: 'today',
    isForGuests: true,
    navigation: { title: 'Today', guestTitle: 'Overview', icon: 'today', key: 't', isOnPhone: true },
  },
  {
    path: '/revenue',
    view: 'revenue',
    section: 'revenue',
    isForGuests: true,
    needsAllMetrics: true,
    navigation: { title: 'Revenue', icon: 'revenue', key: 'r', isOnPhone: true },
  },
  {
    path: '/refunds',
    view: 'refunds',
    section: 'refunds',
    isForGuests: false,
    navigation: { title: 'Refunds', icon: 'undo', key: 'f', isOnPhone: false },
  },
  {
    path: '/subscriptions',
    view: 'subscriptions',
    section: 'subscriptions',
    isForGuests: true,
    needsAllMetrics: true,
    navigation: { title: 'Subscriptions', icon: 'subscriptions', key: 's', isOnPhone: true },
  },
  {
    path: '/retention',
    view: 'retention',
    section: 'retention',
    isForGuests: true,
    needsAllMetrics: true,
    navigation: { title: 'Trials & retention', icon: 'retention', key: 'n', isOnPhone: false },
  },
  {
    path: '/metrics',
    view: 'metrics',
    section: 'metrics',
    isForGuests: true,
    navigation: { title: 'All metrics', icon: 'chart', key: 'm', isOnPhone: false },
  },
  { path: '/metrics/:name', view: 'metric', section: 'metrics', isForGuests: true },
  {
    path: '/customers',
    view: 'customers',
    section: 'customers',
    isForGuests: false,
    navigation: { title: 'Customers', icon: 'customers', key: 'c', isOnPhone: true },
  },
  { path: '/customers/:id', view: 'customer', section: 'customers', isForGuests: false },
  { path: '/users/:id', view: 'user', section: 'customers', isForGuests: false },
  {
    path: '/events',
    view: 'events',
    section: 'events',
    isForGuests: false,
    navigation: { title: 'Events', icon: 'events', key: 'e', isOnPhone: false },
  },
  { path: '/events/:id', view: 'event', section: 'events', isForGuests: false },
  { path: '/gaps', view: 'gaps', section: 'events', isForGuests: false },
  { path: '/coverage', view: 'coverage', section: 'events', isForGuests: false },
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
