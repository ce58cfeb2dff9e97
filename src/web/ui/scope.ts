/** The scope of a view: apps, date range and amounts. It is in the URL, so views can be bookmarked and shared. */
import { useLocation } from 'preact-iso'
import { INTERVALS } from '../../metrics/series/buckets.ts'
import type { Query } from './http.ts'
import { daysBetween, type Interval, plusDays } from './words.ts'

export const RANGES = ['7d', '28d', '90d', '12m', 'all', 'custom'] as const
export type Range = (typeof RANGES)[number]
export const RANGE_TITLES: Record<Range, string> = {
  '7d': '7 days',
  '28d': '28 days',
  '90d': '90 days',
  '12m': '12 months',
  all: 'All time',
  custom: 'Custom range',
}
const RANGE_DAYS: Partial<Record<Range, number>> = { '7d': 7, '28d': 28, '90d': 90 }

export type Scope = {
  apps: string[]
  organization: string | null
  range: Range
  from: string | null
  to: string | null
  /** null if the interval follows from the range. */
  interval: Interval | null
  /** The billing currency that figures are restricted to. */
  currency: string | null
  /** The currency that amounts are shown in; null for the organization’s. */
  display: string | null
  basis: 'gross' | 'proceeds'
  environment: 'production' | 'sandbox'
  zone: 'own' | 'pacific'
  compare: boolean
}

const oneOf = <Word extends string>(
  text: string | undefined,
  params: readonly Word[],
  otherwise: Word,
): Word => params.find((one) => one === text) ?? otherwise

/** The scope in URL parameters, with defaults. */
export function scopeFrom(query: Record<string, string>): Scope {
  return {
    apps: (query.app ?? '').split(',').filter((id) => id !== ''),
    organization: query.org ?? null,
    range: oneOf(query.range, RANGES, '90d'),
    from: query.from ?? null,
    to: query.to ?? null,
    interval: INTERVALS.find((one) => one === query.by) ?? null,
    currency: query.currency ?? null,
    display: query.display ?? null,
    basis: oneOf(query.basis, ['gross', 'proceeds'], 'gross'),
    environment: oneOf(query.env, ['production', 'sandbox'], 'production'),
    zone: oneOf(query.zone, ['own', 'pacific'], 'own'),
    compare: query.compare === '1',
  }
}

/** The URL parameters of a scope, without defaults. */
export function scopeParams(scope: Scope): Query {
  const isCustom = scope.range === 'custom'
  return {
    app: scope.apps.join(','),
    org: scope.organization,
    range: scope.range === '90d' ? null : scope.range,
    from: isCustom ? scope.from : null,
    to: isCustom ? scope.to : null,
    by: scope.interval,
    currency: scope.currency,
    display: scope.display,
    basis: scope.basis === 'gross' ? null : scope.basis,
    env: scope.environment === 'production' ? null : scope.environment,
    zone: scope.zone === 'own' ? null : scope.zone,
    compare: scope.compare ? 1 : null,
  }
}

const SCOPE_PARAMS = [
  'app',
  'org',
  'range',
  'from',
  'to',
  'by',
  'currency',
  'display',
  'basis',
  'env',
  'zone',
  'compare',
]

/** Builds a URL that keeps the scope parameters of the current URL and adds other parameters. */
export function hrefInScope(path: string, present: Record<string, string>, own: Query = {}): string {
  const params = new URLSearchParams()
  for (const name of SCOPE_PARAMS) if (present[name]) params.set(name, present[name])
  for (const [name, value] of Object.entries(own)) {
    if (value === null || value === undefined || value === '') params.delete(name)
    else params.set(name, String(value))
  }
  const text = params.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The scope in the current URL, and functions to change it and to build links. */
export function useScope(): { scope: Scope; change: (changes: Partial<Scope>) => void; href: typeof href } {
  const { query, path, route } = useLocation()
  const scope = scopeFrom(query)
  const change = (changes: Partial<Scope>): void => {
    const others = Object.fromEntries(Object.entries(query).filter(([name]) => !SCOPE_PARAMS.includes(name)))
    route(hrefInScope(path, others, scopeParams({ ...scope, ...changes })), true)
  }
  const href = (to: string, own: Query = {}): string => hrefInScope(to, query, own)
  return { scope, change, href }
}

/** The query parameters of the current URL, and a function to change them. */
export function useQueryParams(): [Record<string, string>, (changes: Query) => void] {
  const { query, path, route } = useLocation()
  const change = (changes: Query): void => route(hrefInScope(path, query, { ...query, ...changes }), true)
  return [query, change]
}

/** The interval of a scope. The default depends on the number of days and gives about 30 to 100 points. */
export function intervalOf(scope: Scope, days: number): Interval {
  if (scope.interval) return scope.interval
  if (days <= 100) return 'day'
  return days <= 400 ? 'week' : 'month'
}

/** The first and last day of a scope. `today` is the organization's current date. */
export function daysOf(scope: Scope, today: string, first: string | null): { from: string; to: string } {
  if (scope.range === 'custom' && scope.from && scope.to) {
    const to = scope.to > today ? today : scope.to
    return { from: scope.from > to ? to : scope.from, to }
  }
  if (scope.range === '12m')
    return { from: plusDays(`${Number(today.slice(0, 4)) - 1}${today.slice(4)}`, 1), to: today }
  if (scope.range === 'all') return { from: first ?? plusDays(today, -1825), to: today }
  return { from: plusDays(today, 1 - (RANGE_DAYS[scope.range] ?? 90)), to: today }
}

/** The metric query parameters of a scope. */
export function metricQuery(scope: Scope, today: string, first: string | null = null): Query {
  const { from, to } = daysOf(scope, today, first)
  return {
    ...sourceQuery(scope),
    ...displayQuery(scope),
    from,
    to,
    interval: intervalOf(scope, daysBetween(from, to)),
    currency: scope.currency,
  }
}

/** The display currency, as a parameter of requests for amounts. */
export const displayQuery = ({ display }: Pick<Scope, 'display'>): Query => ({ display_currency: display })

/** Apps, organization, environment and time zone. Fiscal months use Pacific time. */
export const sourceQuery = (scope: Scope): Query => ({
  app: scope.apps.join(','),
  organization: scope.organization,
  environment: scope.environment === 'production' ? null : scope.environment,
  zone: scope.zone === 'own' && scope.interval !== 'fiscal_month' ? null : 'pacific',
})
