/** The views, in the order of the navigation. */
import type { IconName } from '../parts/icons.tsx'

export type View = {
  path: string
  title: string
  icon: IconName
  isForGuests: boolean
  isOnPhone: boolean
  /** Other addresses of the same view. */
  also?: readonly string[]
}

export const VIEWS: View[] = [
  { path: '/', title: 'Today', icon: 'today', isForGuests: true, isOnPhone: true },
  { path: '/revenue', title: 'Revenue', icon: 'revenue', isForGuests: true, isOnPhone: true },
  {
    path: '/subscriptions',
    title: 'Subscriptions',
    icon: 'subscriptions',
    isForGuests: true,
    isOnPhone: true,
  },
  { path: '/retention', title: 'Trials & retention', icon: 'retention', isForGuests: true, isOnPhone: false },
  { path: '/metrics', title: 'All metrics', icon: 'chart', isForGuests: true, isOnPhone: false },
  {
    path: '/customers',
    title: 'Customers',
    icon: 'customers',
    isForGuests: false,
    isOnPhone: true,
    also: ['/users'],
  },
  {
    path: '/events',
    title: 'Events',
    icon: 'events',
    isForGuests: false,
    isOnPhone: false,
    also: ['/gaps', '/coverage'],
  },
  { path: '/settings', title: 'Settings', icon: 'settings', isForGuests: false, isOnPhone: false },
]
