/** Reads the figures of a digest in one snapshot, with the function that answers `/api/v1/metrics/{name}`. */
import * as v from 'valibot'
import type { Apps } from '../../apps/apps.ts'
import type { Organization } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import { type Finding, textOfFinding } from '../../health/findings.ts'
import { DEFINITIONS, type MetricName } from '../../metrics/definitions/definitions.ts'
import { type DayNumber, dayText } from '../../metrics/lineage/calendar.ts'
import type { Point } from '../../metrics/series/points.ts'
import { isKnownOn } from '../../metrics/series/reasons.ts'
import type { SeriesAnswer, SeriesReader, SnapshotScope } from '../../metrics/series/series.ts'
import { resolveRequest, SeriesParams } from '../../metrics/series/series_request.ts'
import type { Compared, DigestFigures, DigestKind } from './figures.ts'
import { periodOf } from './periods.ts'

/** The usual is a mean of this many weeks. */
const USUAL_WEEKS = 4
/** The tries to read figures between which no fact arrives. */
const MAX_READS = 3

type Deps = {
  clock: Clock
  apps: Pick<Apps, 'list' | 'get'>
  series: SeriesReader
  feed: Pick<Feed, 'head'>
  findings: () => Promise<readonly Finding[]>
}

export type DigestReader = ReturnType<typeof openDigestReader>

/** Opens the reading. */
export function openDigestReader(deps: Deps) {
  const { apps, series, feed } = deps

  /** The figures of the digest of a day; null without a connected app. They are not waited for. */
  async function read(
    organization: Organization,
    kind: DigestKind,
    day: DayNumber,
  ): Promise<DigestFigures | null> {
    const own = apps.list().filter(({ organization_id }) => organization_id === organization.id)
    if (own.length === 0) return null
    const attention = await attentionOf(organization.id, deps)
    const scope = { organization, apps: own, environment: 'production', zone: 'own', metrics: null } as const
    return series.withSnapshot(
      scope,
      async (one) => {
        const is_behind = one.shown.behind !== null || isOfOtherSettings(one, organization)
        return { ...(await settledFigures(one, kind, day)), is_behind, attention }
      },
      0,
    )
  }

  /** Reads again if facts arrived meanwhile, so that the figures belong together. */
  async function settledFigures(scope: SnapshotScope, kind: DigestKind, day: DayNumber) {
    for (let reads = 1; ; reads += 1) {
      const head = feed.head()
      const figures = await figuresIn(deps, scope, { kind, day })
      if (feed.head() === head || reads >= MAX_READS) return figures
    }
  }

  return { read }
}

/** The figures of a digest in one snapshot. */
async function figuresIn(
  { series, clock }: Pick<Deps, 'series' | 'clock'>,
  scope: SnapshotScope,
  { kind, day }: { kind: DigestKind; day: DayNumber },
) {
  const today = series.todayOf(scope)
  // Until figures of a changed time zone are computed, the days of the old one apply; none of them is in the future.
  const { from, until } = periodOf(kind, Math.min(day, today + 1))
  const answerOf = openAnswers(series, scope, { kind, from, until, today })
  const revenue = await answerOf('revenue')
  const parts = {
    revenue: comparedIn(revenue, kind),
    proceeds: comparedIn(await answerOf('revenue', { basis: 'proceeds' }), kind),
    mrr: mrrOf(await answerOf('mrr'), await answerOf('mrr_movements')),
    trials: {
      started: comparedIn(await answerOf('new_trials'), kind),
      active: lastOf(await answerOf('active_trials'))?.count ?? null,
      ...endedOf(lastOf(await answerOf('trial_conversion', { view: 'ended' }))),
    },
    churn: churnOf(lastOf(await answerOf('churn_rate'))),
    best_country: bestOf(await answerOf('revenue', { split: 'country' })),
    failed_payments: failedOf(await answerOf('status'), await answerOf('mrr_at_risk')),
  }
  return {
    from_on: dayText(from),
    until_on: dayText(until),
    time_zone: revenue.time_zone,
    currency: revenue.currency ?? scope.organization.currency,
    read_at: clock(),
    is_provisional: [parts.revenue, parts.proceeds, parts.mrr, parts.trials.started].some(
      (one) => one.is_provisional,
    ),
    ...parts,
  }
}

/** The open faults and warnings of an organization and of the whole instance. */
async function attentionOf(
  organization_id: string,
  { apps, findings }: Pick<Deps, 'apps' | 'findings'>,
): Promise<DigestFigures['attention']> {
  const ownerOf = ({ details }: Finding): string =>
    details?.organization_id ?? apps.get(details?.app_id ?? '')?.organization_id ?? organization_id
  return (await findings()).flatMap((one) => {
    const { state: level, subject, details } = one
    if ((level !== 'fault' && level !== 'warning') || ownerOf(one) !== organization_id) return []
    return [{ level, title: capitalized(details?.title ?? subject), text: capitalized(textOfFinding(one)) }]
  })
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Whether the figures shown were computed with another time zone or currency than the organization has now. */
const isOfOtherSettings = ({ shown }: SnapshotScope, { time_zone, currency }: Organization): boolean =>
  shown.generation.time_zone !== time_zone || shown.generation.currency !== currency

type Range = { kind: DigestKind; from: DayNumber; until: DayNumber; today: DayNumber }
type Options = { basis?: 'proceeds'; split?: 'country'; view?: string }

/** Returns the function that reads a metric for a digest: its days or weeks, oldest first; the last is the digest’s. */
function openAnswers(series: SeriesReader, scope: SnapshotScope, { kind, from, until, today }: Range) {
  return (name: MetricName, options: Options = {}): Promise<SeriesAnswer> => {
    const first = options.split ? from : from - 7 * USUAL_WEEKS
    const range = { from: dayText(first), to: dayText(until), interval: kind === 'daily' ? 'day' : 'week' }
    const query = v.parse(SeriesParams, { ...range, ...options, limit: '1' })
    return series.answer(scope, resolveRequest(name, query, today))
  }
}

const pointsOf = ({ series }: SeriesAnswer, part: string | null = null): readonly Point[] =>
  series.find((one) => one.part === part)?.points ?? []

const lastOf = (answer: SeriesAnswer): Point | undefined => pointsOf(answer).at(-1)

const figureAt = (point: Point | undefined): number | null => point?.milli ?? point?.count ?? null

/**
 * The last figure of a metric beside the usual one: the mean of the earlier days or weeks that are wholly known. There is
 * none for a figure that is not wholly known.
 */
function comparedIn(answer: SeriesAnswer, kind: DigestKind): Compared {
  const points = pointsOf(answer)
  const last = points.at(-1)
  const step = kind === 'daily' ? 7 : 1
  const known = Array.from({ length: USUAL_WEEKS }, (_, week) => points.at(-1 - step * (week + 1)))
    .filter((point) => areKnown(answer, point, last))
    .map(figureAt)
    .filter((value) => value !== null)
  return {
    value: figureAt(last),
    usual: known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length,
    usual_of: known.length,
    is_provisional: last?.complete !== true,
  }
}

/** Whether some points of a total are wholly known. */
const areKnown = ({ series }: SeriesAnswer, ...points: (Point | undefined)[]): boolean =>
  points.every((point) => point !== undefined && isKnownOn(series[0], point.on))

function mrrOf(mrr: SeriesAnswer, movements: SeriesAnswer): DigestFigures['mrr'] {
  const [before, last] = pointsOf(mrr).slice(-2)
  return {
    milli: last?.milli ?? null,
    before_milli: areKnown(mrr, before, last) ? (before?.milli ?? null) : null,
    movements: DEFINITIONS.mrr_movements.parts.flatMap(({ name: part, title }) => {
      const { milli = null } = pointsOf(movements, part).at(-1) ?? {}
      return milli === null || milli === 0 ? [] : [{ part, title, milli }]
    }),
    is_provisional: last?.complete !== true,
  }
}

const endedOf = (point: Point | undefined) => ({
  ended: point?.denominator ?? null,
  converted: point?.numerator ?? null,
})

const churnOf = (point: Point | undefined): DigestFigures['churn'] => ({
  ratio: point?.ratio ?? null,
  lost: point?.numerator ?? null,
  of: point?.denominator ?? null,
})

function bestOf({ series }: SeriesAnswer): DigestFigures['best_country'] {
  const best = series.find(({ value, others }) => value !== null && value !== '' && others === 0)
  const { milli = null } = best?.points.at(-1) ?? {}
  return best?.value == null || milli === null || milli <= 0 ? null : { country: best.value, milli }
}

const FAILED_PARTS = ['grace', 'billing_retry'] as const

/** Sums the parts of failed payments at a point, counted from the last; null if the metric is unknown there. */
function failedAt(answer: SeriesAnswer, back: number): number | null {
  if (figureAt(pointsOf(answer).at(-back)) === null) return null
  return FAILED_PARTS.reduce((sum, part) => sum + (figureAt(pointsOf(answer, part).at(-back)) ?? 0), 0)
}

const failedOf = (status: SeriesAnswer, atRisk: SeriesAnswer): DigestFigures['failed_payments'] => ({
  count: failedAt(status, 1),
  before: areKnown(status, pointsOf(status).at(-2), pointsOf(status).at(-1)) ? failedAt(status, 2) : null,
  at_risk_milli: failedAt(atRisk, 1),
})
