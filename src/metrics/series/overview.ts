/** Computes the overview of an organization: current levels, this month’s flows, and both one month before. */
import { isWithin } from '../../access/metric_limit.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Basis } from '../../money.ts'
import { yieldToEventLoop } from '../../turns.ts'
import { isMoney, type Kind, type Unit } from '../definitions/definition.ts'
import { DEFINITIONS, METRIC_NAMES, type MetricName } from '../definitions/definitions.ts'
import { dayText } from '../lineage/calendar.ts'
import type { Factors } from '../lineage/months.ts'
import type { Metrics, RebuildProgress } from '../metrics.ts'
import type { Bucket } from '../sums/tallies.ts'
import { daysOfBucket, monthToDate } from './buckets.ts'
import type { Point } from './points.ts'
import type { SeriesQuery, SeriesReader, SeriesScope, SnapshotScope } from './series.ts'
import type { Lag } from './snapshot_reads.ts'

/** A metric or one of its parts, now and a month before. */
type OverviewFigure = {
  metric: MetricName
  part: string | null
  unit: Unit
  ratio_of: 'money' | 'count' | null
  kind: Kind
  currency: string | null
  now: Point
  previous: Point
}

/**
 * Flows cover this month through today, and the previous month through the same day of the month. Levels are read at the
 * end of the same ranges.
 */
type OrganizationOverview = {
  organization_id: string
  apps: string[]
  environment: Environment
  time_zone: string
  currency: string
  /** The basis of money. With proceeds, metrics that are known only as gross are omitted. */
  basis: Basis
  /** How far the figures lag behind the facts; null if they are current. */
  behind: Lag | null
  /** The month length by which prices per day or week are converted to prices per month. */
  month_length: Factors
  today_on: string
  this_month: { from_on: string; until_on: string }
  previous: { from_on: string; until_on: string }
  figures: OverviewFigure[]
}

export type OverviewAnswer = { rebuilding: RebuildProgress | null; organizations: OrganizationOverview[] }

type Deps = { metrics: Pick<Metrics, 'progress'>; series: SeriesReader }

export type Overview = ReturnType<typeof openOverview>

export function openOverview({ metrics, series }: Deps) {
  /** Computes the overview of each scope. Waits up to `max_wait_ms` for due figures; null: the configured wait. */
  async function overview(
    scopes: readonly SeriesScope[],
    basis: Basis = 'gross',
    max_wait_ms: number | null = null,
  ): Promise<OverviewAnswer> {
    const organizations: OrganizationOverview[] = []
    for (const scope of scopes)
      organizations.push(await series.withSnapshot(scope, (one) => overviewOf(one, basis), max_wait_ms))
    return { rebuilding: metrics.progress(), organizations }
  }

  async function overviewOf(scope: SnapshotScope, basis: Basis): Promise<OrganizationOverview> {
    const today = series.todayOf(scope)
    const { now, before } = monthToDate(today)
    const figures: OverviewFigure[] = []
    for (const name of METRIC_NAMES.filter((one) => isWithin(scope.metrics, one))) {
      const { bases } = DEFINITIONS[name]
      // Gross amounts must not appear among proceeds.
      if (basis === 'proceeds' && isMoney(DEFINITIONS[name]) && !bases.includes(basis)) continue
      const effectiveBasis = bases.includes(basis) ? basis : 'gross'
      figures.push(...(await figuresOf(scope, name, effectiveBasis, { now, before })))
    }
    const { organization, apps, environment } = scope
    return {
      organization_id: organization.id,
      apps: apps.map(({ id }) => id),
      environment,
      time_zone: series.calendarOf(scope).zone,
      currency: organization.currency,
      basis,
      behind: scope.shown.behind,
      month_length: scope.shown.generation.factors,
      today_on: dayText(today),
      this_month: daysOfBucket(now),
      previous: daysOfBucket(before),
      figures,
    }
  }

  async function figuresOf(
    scope: SnapshotScope,
    name: MetricName,
    basis: Basis,
    { now, before }: { now: Bucket; before: Bucket },
  ) {
    const { unit, ratio_of, kind, views } = DEFINITIONS[name]
    const query: SeriesQuery = {
      name,
      interval: 'month',
      filters: {},
      attribute: null,
      split: null,
      limit: 1,
      currency: null,
      part: null,
      basis,
      refunds: 'refund_day',
      view: views[0]?.name ?? null,
      with_empty_parts: true,
    }
    await yieldToEventLoop()
    const { shown: current } = await series.seriesIn(scope, query, [bucketFor(kind, now)])
    const { shown: earlier } = await series.seriesIn(scope, query, [bucketFor(kind, before)])
    const currency = (ratio_of ?? unit) === 'money' ? scope.organization.currency : null
    return current.series.flatMap(({ part, points: [point] }, index): OverviewFigure[] => {
      const [previous] = earlier.series[index]?.points ?? []
      if (!point || !previous) return []
      return [{ metric: name, part, unit, ratio_of, kind, currency, now: point, previous }]
    })
  }

  return overview
}

/** A level is read at the end of its last day. */
const bucketFor = (kind: Kind, { from, until }: Bucket): Bucket =>
  kind === 'level' ? { from: until, until } : { from, until }
