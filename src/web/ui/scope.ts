/** The scope of a view: apps, date range and amounts. It is in the URL, so views can be bookmarked and shared. */
import { useLocation } from 'preact-iso/router'
import { dayNumber, dayText } from '../../metrics/lineage/calendar.ts'
import { INTERVALS } from '../../metrics/series/buckets.ts'
import type { Query } from './http.ts'
import { type Days, isFiscalRange, RANGES, type Range, rangeDays } from './ranges.ts'
import { daysBetween, type Interval } from './words.ts'

const DEFAULT_RANGE: Range = '90d'

export type Comparison = 'none' | 'previous' | 'year'

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
  /** What figures and charts are compared with. */
  compare: Comparison
}

const oneOf = <Word extends string>(
  text: string | undefined,
  params: readonly Word[],
  otherwise: Word,
): Word => params.find((one) => one === text) ?? otherwise

/** The API's names of parameters that have a shorter name in the address of a page. */
const API_NAMES: Record<string, string> = {
  interval: 'by',
  environment: 'env',
  organization: 'org',
  display_currency: 'display',
  query: 'q',
}

/** Parameters under the names of a page's address. The API's names work, too. */
export const canonical = (params: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [API_NAMES[name] ?? name, value]))

const isDay = (text: string | undefined): boolean =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && dayText(dayNumber(text)) === text

/** Days without a range make a custom one. A custom range needs at least one of its days. */
function rangeFrom({ range, from, to }: Record<string, string>): Range {
  const hasDays = isDay(from) || isDay(to)
  const chosen = oneOf(range, RANGES, hasDays && range === undefined ? 'custom' : DEFAULT_RANGE)
  return chosen === 'custom' && !hasDays ? DEFAULT_RANGE : chosen
}

/** The scope in URL parameters, with defaults. */
export function scopeFrom(params: Record<string, string>): Scope {
  const query = canonical(params)
  return {
    apps: (query.app ?? '').split(',').filter((id) => id !== ''),
    organization: query.org ?? null,
    range: rangeFrom(query),
    from: isDay(query.from) ? (query.from ?? null) : null,
    to: isDay(query.to) ? (query.to ?? null) : null,
    interval: INTERVALS.find((one) => one === query.by) ?? null,
    currency: query.currency ?? null,
    display: query.display ?? null,
    basis: oneOf(query.basis, BASES, 'gross'),
    environment: oneOf(query.env, ENVIRONMENTS, 'production'),
    zone: oneOf(query.zone, ZONES, 'own'),
    compare: oneOf(query.compare, COMPARISONS, 'none'),
  }
}

/** The URL parameters of a scope, without defaults. */
export function scopeParams(scope: Scope): Query {
  const isCustom = scope.range === 'custom'
  return {
    app: scope.apps.join(','),
    org: scope.organization,
    range: scope.range === DEFAULT_RANGE ? null : scope.range,
    from: isCustom ? scope.from : null,
    to: isCustom ? scope.to : null,
    by: scope.interval,
    currency: scope.currency,
    display: scope.display,
    basis: scope.basis === 'gross' ? null : scope.basis,
    env: scope.environment === 'production' ? null : scope.environment,
    zone: scope.zone === 'own' ? null : scope.zone,
    compare: scope.compare === 'none' ? null : scope.compare,
  }
}

/** Whether a view uses a value of a parameter: its values, or a test of one value in its query. */
export type ParamCheck =
  | readonly string[]
  | ((value: string, query: Readonly<Record<string, string>>) => boolean)
/** Any value. The server refuses a wrong one. */
export const ANY: ParamCheck = () => true

const BASES = ['gross', 'proceeds'] as const
const ENVIRONMENTS = ['production', 'sandbox'] as const
const ZONES = ['own', 'pacific'] as const
const COMPARISONS = ['none', 'previous', 'year'] as const

const isUsedDay: ParamCheck = (value, query) => isDay(value) && rangeFrom(query) === 'custom'

/** The parameters of the scope, in the order of addresses. */
export const SCOPE_PARAMS: Record<string, ParamCheck> = {
  app: ANY,
  org: ANY,
  range: (value, query) => rangeFrom(query) === value,
  from: isUsedDay,
  to: isUsedDay,
  by: INTERVALS,
  currency: ANY,
  display: ANY,
  basis: BASES,
  env: ENVIRONMENTS,
  zone: ZONES,
  compare: COMPARISONS,
}

/** Builds a URL that keeps the scope parameters of the current URL and adds other parameters. */
export function hrefInScope(path: string, present: Record<string, string>, own: Query = {}): string {
  const params = new URLSearchParams()
  const kept = canonical(present)
  for (const name of Object.keys(SCOPE_PARAMS)) if (kept[name]) params.set(name, kept[name])
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
    const others = Object.fromEntries(
      Object.entries(canonical(query)).filter(([name]) => !(name in SCOPE_PARAMS)),
    )
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

/** A narrower window has no room for the bars of more than `MAX_NARROW_DAYS`. */
const MIN_WIDE_PX = 480
const MAX_NARROW_DAYS = 60

/**
 * The interval of a scope. The default depends on the number of days and gives about 30 to 100 points, on a phone fewer
 * than 60.
 */
export function intervalOf(scope: Scope, days: number): Interval {
  if (scope.interval) return scope.interval
  if (days <= (globalThis.innerWidth < MIN_WIDE_PX ? MAX_NARROW_DAYS : 100)) return 'day'
  return days <= 400 ? 'week' : 'month'
}

/** The first and last day of a scope. `today` is the organization's current date. */
export function daysOf(scope: Scope, today: string, first: string | null): Days {
  if (scope.range !== 'custom') return rangeDays(scope.range, today, first)
  const to = scope.to === null || scope.to > today ? today : scope.to
  return { from: scope.from === null || scope.from > to ? to : scope.from, to }
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

/** Whether days are Pacific days. Those of fiscal months are, whatever the zone. */
export const isPacific = ({ zone, interval, range }: Scope): boolean =>
  zone === 'pacific' || interval === 'fiscal_month' || isFiscalRange(range)

/** Apps, organization, environment and time zone. */
export const sourceQuery = (scope: Scope): Query => ({
  app: scope.apps.join(','),
  organization: scope.organization,
  environment: scope.environment === 'production' ? null : scope.environment,
  zone: isPacific(scope) ? 'pacific' : null,
})
