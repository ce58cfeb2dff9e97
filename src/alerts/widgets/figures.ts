/** The figures of widgets, with the functions that answer `/api/v1/metrics/{name}`. */
import * as v from 'valibot'
import type { App } from '../../apps/apps.ts'
import { type Organization, UNNAMED } from '../../apps/organizations.ts'
import type { MetricName } from '../../metrics/definitions/definitions.ts'
import { dayText } from '../../metrics/lineage/calendar.ts'
import { isKnownOn } from '../../metrics/series/reasons.ts'
import type { SeriesReader } from '../../metrics/series/series.ts'
import { resolveRequest, SeriesParams } from '../../metrics/series/series_request.ts'

/** The days of a spark line, and of a sum over 30 days. */
const MONTH = 30
const WEEK = 7

/**
 * How a figure is read from the days of a metric. `today` and `yesterday`: that day. `sum`: the last 30 days. `level`: the
 * newest day of a metric that has a level.
 */
type Reading = 'today' | 'yesterday' | 'sum' | 'level'
type WidgetMetric = Readonly<{
  name: WidgetMetricName
  title: string
  metric: MetricName
  reading: Reading
  isHigherBetter: boolean
}>

const NAMES = [
  'revenue_today',
  'revenue_yesterday',
  'revenue_30d',
  'mrr',
  'active_subscriptions',
  'active_trials',
  'new_trials_today',
] as const
export type WidgetMetricName = (typeof NAMES)[number]
/** The name of a figure of a widget. */
export const WidgetMetricSchema = v.picklist(NAMES)

export const WIDGET_METRICS: readonly WidgetMetric[] = [
  {
    name: 'revenue_today',
    title: 'Revenue today',
    metric: 'revenue',
    reading: 'today',
    isHigherBetter: true,
  },
  {
    name: 'revenue_yesterday',
    title: 'Revenue yesterday',
    metric: 'revenue',
    reading: 'yesterday',
    isHigherBetter: true,
  },
  { name: 'revenue_30d', title: 'Revenue, 30 days', metric: 'revenue', reading: 'sum', isHigherBetter: true },
  { name: 'mrr', title: 'MRR', metric: 'mrr', reading: 'level', isHigherBetter: true },
  {
    name: 'active_subscriptions',
    title: 'Subscribers',
    metric: 'active_subscriptions',
    reading: 'level',
    isHigherBetter: true,
  },
  { name: 'active_trials', title: 'Trials', metric: 'active_trials', reading: 'level', isHigherBetter: true },
  {
    name: 'new_trials_today',
    title: 'New trials today',
    metric: 'new_trials',
    reading: 'today',
    isHigherBetter: true,
  },
]
export const DEFAULT_WIDGET_METRICS: readonly WidgetMetricName[] = [
  'revenue_today',
  'mrr',
  'active_subscriptions',
  'active_trials',
]

/**
 * A figure. `value` is in thousandths of the currency if `is_money`, otherwise a count; null if it is unknown. A sum is of
 * its known days. `before`: the same a week before for yesterday, 30 days before for levels and sums; null where one of
 * the two is not wholly known, and for today.
 */
export type WidgetFigure = Readonly<{
  name: WidgetMetricName
  title: string
  is_money: boolean
  value: number | null
  before: number | null
  /** The last 30 days, oldest first. */
  spark: readonly (number | null)[]
}>

export type WidgetFigures = Readonly<{
  name: string
  currency: string
  time_zone: string
  updated_at: number
  /** Whether facts have not been counted yet. */
  is_stale: boolean
  figures: readonly WidgetFigure[]
}>

type Deps = { series: SeriesReader; clock: () => number }
type Wanted = { organization: Organization; apps: readonly App[]; metrics: readonly WidgetMetricName[] }

/** Opens the reading. */
export function openWidgetFigures({ series, clock }: Deps) {
  /** The figures of some apps of an organization, in one snapshot. They are not waited for. */
  async function read({ organization, apps, metrics }: Wanted): Promise<WidgetFigures> {
    const scope = {
      organization,
      apps: [...apps],
      environment: 'production',
      zone: 'own',
      metrics: null,
    } as const
    const wanted = WIDGET_METRICS.filter(({ name }) => metrics.includes(name))
    const ordered = metrics.flatMap((name) => wanted.find((one) => one.name === name) ?? [])
    return series.withSnapshot(
      scope,
      async (one) => {
        const today = series.todayOf(one)
        const days = new Map<MetricName, readonly Day[]>()
        for (const metric of new Set(ordered.map((each) => each.metric))) {
          const range = { from: dayText(today - 2 * MONTH), to: dayText(today), interval: 'day' }
          const request = resolveRequest(metric, v.parse(SeriesParams, range), today)
          const answer = await series.answer(one, request)
          const total = answer.series.find(({ part, value }) => part === null && value === null)
          days.set(
            metric,
            (total?.points ?? []).map((point) => ({
              value: point.milli ?? point.count ?? null,
              isKnown: isKnownOn(total, point.on),
            })),
          )
        }
        return {
          name: headingOf(apps, organization),
          // Until figures in a changed currency are computed, they are those of the old one.
          currency: one.organization.currency,
          time_zone: one.shown.generation.time_zone,
          updated_at: clock(),
          is_stale: one.shown.behind !== null || one.organization.currency !== organization.currency,
          figures: ordered.map((each) => figureOf(each, days.get(each.metric) ?? [])),
        }
      },
      0,
    )
  }

  return { read }
}

/** The name of the only app, or of the organization. One without a name of its own would head a Home Screen with “Default”. */
function headingOf([app, ...others]: readonly App[], { name }: Organization): string {
  if (app !== undefined && others.length === 0) return app.name ?? app.bundle_id
  return name === UNNAMED ? 'Windfall' : name
}

/** The figure of a day. `isKnown`: whether all of it is known. */
type Day = { value: number | null; isKnown: boolean }

/** The figure of a metric from its days, of which the last is today. */
function figureOf({ name, title, metric, reading }: WidgetMetric, days: readonly Day[]): WidgetFigure {
  const at = (back: number): number | null => days.at(-1 - back)?.value ?? null
  const areKnown = (...back: number[]): boolean =>
    back.every((one) => at(one) !== null && days.at(-1 - one)?.isKnown)
  const month = (from: number) => Array.from({ length: MONTH }, (_, index) => from + index)
  const sumOf = (back: readonly number[]): number | null => {
    const known = back.map(at).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  }
  const shared = {
    name,
    title,
    is_money: metric === 'revenue' || metric === 'mrr',
    spark: days.slice(-MONTH).map(({ value }) => value),
  }
  switch (reading) {
    case 'today':
      return { ...shared, value: at(0), before: null }
    case 'yesterday':
      return { ...shared, value: at(1), before: areKnown(1, 1 + WEEK) ? at(1 + WEEK) : null }
    case 'sum':
      return {
        ...shared,
        value: sumOf(month(0)),
        before: areKnown(...month(0), ...month(MONTH)) ? sumOf(month(MONTH)) : null,
      }
    case 'level':
      return { ...shared, value: at(0), before: areKnown(0, MONTH) ? at(MONTH) : null }
  }
}
