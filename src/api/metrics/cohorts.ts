/** `/api/v1/cohorts`: retention, lifetime value, revenue per payer and billing recovery by cohort. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth, ViewerAccess } from '../../access/auth.ts'
import type { MetricLimit } from '../../access/metric_limit.ts'
import { appsInScope, list, resolveApps } from '../../access/scope.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { addDays } from '../../days.ts'
import { type CsvValue, csvHeader, csvRow, csvSlices } from '../../http/csv.ts'
import { jsonSchema } from '../../http/documented.ts'
import { invalid } from '../../http/parse.ts'
import { jsonInSlices } from '../../http/response.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Cohorts } from '../../metrics/cohorts/cohorts.ts'
import { COHORT_METRICS, type CohortMetric } from '../../metrics/cohorts/descriptions.ts'
import { type CohortQuery, GRAINS, type Grain, unobservedIn } from '../../metrics/cohorts/spans.ts'
import { dayNumber, dayText, openCalendar } from '../../metrics/lineage/calendar.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { notConvertedText } from '../../metrics/series/csv.ts'
import type { NotConverted } from '../../metrics/series/points.ts'
import type { ReasonRange } from '../../metrics/series/reasons.ts'
import { day } from '../../metrics/series/series_request.ts'
import type { Lag } from '../../metrics/series/snapshot_reads.ts'
import { FORMULA, type Generation, hasProceeds } from '../../metrics/upkeep/generations.ts'
import type { Basis } from '../../money.ts'
import type { Rates } from '../../rates/rates.ts'
import {
  csvResponse,
  MAX_WAIT_MS,
  QUERY_LIMIT_ERRORS,
  READ_ROUTE,
  waitPreferenceOf,
} from '../route_defaults.ts'
import { CohortsAnswer } from './cohort_answers.ts'
import { DisplayParam, openDisplay } from './display.ts'
import { basisFor } from './guest_basis.ts'

const DEFAULT_DAYS = [0, 1, 3, 7, 14, 30, 60, 90, 180, 270, 365]
const MAX_DAYS = 400
/** The number of days between the default first cohort and the last. */
const DEFAULT_SPAN_DAYS = 365
const MAX_SPAN_DAYS = 4_000

const optionalText = (description: string) => v.optional(v.pipe(v.string(), v.description(description)))
const Query = v.object({
  metric: v.pipe(
    v.picklist(['retention', 'ltv', 'arppu', 'recovery']),
    v.description('The metric: retention, ltv, arppu or recovery'),
  ),
  by: v.optional(v.pipe(v.picklist(GRAINS), v.description('The length of a cohort')), 'month'),
  from: v.optional(day('The first cohort contains this day, not after `to`; default: a year ago')),
  to: v.optional(day('The last cohort is the one that contains this day; default: today')),
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  environment: v.optional(v.picklist(['production', 'sandbox']), 'production'),
  basis: v.optional(
    v.pipe(
      v.picklist(['gross', 'proceeds']),
      v.description(
        'For ltv and arppu: gross is what customers were charged, proceeds what is left after tax and Apple’s commission',
      ),
    ),
    'gross',
  ),
  product: optionalText('A product id'),
  country: optionalText('A storefront, as an ISO 3166-1 alpha-3 code'),
  days: v.optional(
    v.pipe(
      v.string(),
      jsonSchema({ pattern: `^,*(\\d{1,4}(,+\\d{1,4}){0,${MAX_DAYS - 1}})?,*$` }),
      list,
      v.maxLength(MAX_DAYS, `must be at most ${MAX_DAYS} numbers`),
      v.check(
        (all) => all.every((text) => /^\d{1,4}$/.test(text)),
        'must be whole numbers of days, separated by commas',
      ),
      v.description('For ltv: numbers of days after the first payment, each included'),
    ),
  ),
  ...DisplayParam,
})
type CohortsQuery = v.InferOutput<typeof Query>

type Deps = {
  cohorts: Cohorts
  organizations: Organizations
  apps: Apps
  auth: Auth
  clock: Clock
  metrics: Pick<Metrics, 'withSnapshot'>
  rates: Rates
}

/** Answers cohort queries of a caller, in the display currency. */
function openAnswers({ cohorts, organizations, apps, clock, metrics, rates }: Deps) {
  const display = openDisplay({ rates, clock })

  const answer = async (access: ViewerAccess, query: CohortsQuery, wait_ms: number | null) =>
    display.fields(await answerInBase(access, query, wait_ms), query.display_currency)

  async function answerInBase(access: ViewerAccess, query: CohortsQuery, wait_ms: number | null) {
    const { accessScope, metrics: limit } = access
    const basis = basisFor(access, MEASURES[query.metric], query)
    assertBasis(query, basis)
    const appIds = query.app?.flatMap((name) => resolveApps(name, accessScope, apps))
    const chosen = appsInScope(accessScope, apps).filter(({ id }) => appIds?.includes(id) ?? true)
    const organization = onlyOrganization([...new Set(chosen.map(({ organization_id }) => organization_id))])
    const owner = organizations.get(organization ?? '')
    if (owner === null)
      return buildAnswer({ cohorts, clock }, query, basis, {
        apps: [],
        generation: NO_ORGANIZATION,
        behind: null,
        limit,
      })
    return metrics.withSnapshot(
      { organization: owner, apps: chosen },
      ({ shown }) => buildAnswer({ cohorts, clock }, query, basis, { apps: chosen, limit, ...shown }),
      wait_ms,
    )
  }

  return answer
}

export function cohortRoutes(deps: Deps): Route[] {
  const { auth } = deps
  const answer = openAnswers(deps)

  async function csv(event: H3Event, access: ViewerAccess, query: CohortsQuery): Promise<Response> {
    const wait_ms = waitPreferenceOf(event) ?? MAX_WAIT_MS
    const { metric, currency, behind, cohorts: table } = await answer(access, query, wait_ms)
    const moneyCells = ({ not_converted: some }: CohortRow): CohortRow =>
      MEASURES[metric].unit !== 'money'
        ? {}
        : { currency, not_converted: notConvertedText(some as NotConverted[] | undefined) }
    const [first] = rowsOf(metric, table)
    const columns = Object.keys(first === undefined ? { cohort: '' } : { ...first, ...moneyCells(first) })
    auth.noteExport(event, 'cohorts')
    return csvResponse(event, 'cohorts', csvSlices(csvHeader(columns), lines()), behind)
    function* lines() {
      for (const row of rowsOf(metric, table)) yield csvRow(columns, { ...row, ...moneyCells(row) })
    }
  }

  const common = {
    ...READ_ROUTE,
    access: auth.viewer,
    query: Query,
    refusals: { ...QUERY_LIMIT_ERRORS, 403: 'not_for_guests, metric_not_shared' },
    around: auth.limited,
  } as const
  return [
    defineRoute({
      ...common,
      path: '/api/v1/cohorts',
      summary: 'Returns retention, realized lifetime value, revenue per payer and billing recovery by cohort',
      answers: { 200: { description: 'A row for each cohort', schema: CohortsAnswer } },
      handler: async ({ event, caller, query }) =>
        jsonInSlices(await answer(caller, query, waitPreferenceOf(event)), 'cohorts'),
    }),
    defineRoute({
      ...common,
      path: '/api/v1/cohorts.csv',
      summary: 'Returns the same figures as CSV',
      answers: { 200: { description: 'One line for each cohort and cell', content_type: 'text/csv' } },
      handler: ({ event, caller, query }) => csv(event, caller, query),
    }),
  ]
}

/** The requested apps, and the generation that their figures are read from. */
type CohortSource = {
  apps: readonly App[]
  generation: Pick<Generation, 'id' | 'time_zone' | 'currency' | 'factors' | 'formula'>
  behind: Lag | null
  limit: MetricLimit
}

async function buildAnswer(
  { cohorts, clock }: Pick<Deps, 'cohorts' | 'clock'>,
  query: CohortsQuery,
  basis: Basis,
  { apps: chosen, generation, behind, limit }: CohortSource,
) {
  const { time_zone, currency } = generation
  const today = openCalendar(time_zone).dayOf(clock())
  const { from, until } = spanOf(query, today)
  const question = {
    scopes: cohorts.scopesOf(chosen, query.environment, generation),
    time_zone,
    grain: query.by,
    product_id: query.product ?? '*',
    storefront: query.country ?? '*',
    from,
    until,
    metrics: limit,
  }
  const table = { ...COHORT_METRICS[query.metric], by: query.by, from: dayText(from), to: dayText(until) }
  const isUnknown = basis === 'proceeds' && !hasProceeds(generation)
  const { rows, known } = isUnknown
    ? NO_COHORTS
    : await readCohorts(cohorts, query, { question, today, basis })
  return {
    metric: query.metric,
    ...table,
    time_zone,
    currency: chosen.length === 0 ? null : currency,
    basis,
    behind,
    month_length: generation.factors,
    proceeds_known: known,
    reasons: isUnknown ? [...unobservedIn(question), notComputed(question)] : unobservedIn(question),
    cohorts: rows,
  }
}

type CohortRows = Pick<Awaited<ReturnType<Cohorts['ltv']>>, 'known'> & { rows: object[] }
type CohortContext = { question: CohortQuery; today: number; basis: Basis }

const NO_COHORTS: CohortRows = { rows: [], known: null }
/** The whole range, of which an earlier version stored no proceeds. */
const notComputed = ({ from, until }: CohortQuery): ReasonRange => ({
  reason: 'behind',
  from_on: dayText(from),
  until_on: dayText(until),
})

async function readCohorts(
  cohorts: Cohorts,
  query: CohortsQuery,
  { question, today, basis }: CohortContext,
): Promise<CohortRows> {
  if (query.metric === 'retention') return { rows: await cohorts.retention(question, today), known: null }
  if (query.metric === 'recovery') return { rows: await cohorts.recovery(question, today), known: null }
  if (query.metric === 'arppu')
    return cohorts.arppu({ ...question, grain: requirePayerGrain(query.by) }, today, basis)
  const days = [...new Set(query.days?.map(Number) ?? DEFAULT_DAYS)].sort((a, b) => a - b)
  return cohorts.ltv(question, days, today, basis)
}

/** The unit and the bases of the cohort metrics that are amounts of money. */
const MONEY = { unit: 'money', ratio_of: null, bases: ['gross', 'proceeds'] } as const
/** The unit and the basis of the cohort metrics that are counts. */
const COUNTS = { unit: 'count', ratio_of: null, bases: ['gross'] } as const
const MEASURES = { retention: COUNTS, ltv: MONEY, arppu: MONEY, recovery: COUNTS }

const NO_ORGANIZATION = {
  id: 0,
  time_zone: 'UTC',
  currency: 'USD',
  factors: 'calendar',
  formula: FORMULA,
} as const

/**
 * @throws Refusal 400 `invalid_request` for several organizations, which may have different currencies and time zones.
 */
function onlyOrganization(organizations: readonly string[]): string | null {
  if (organizations.length <= 1) return organizations[0] ?? null
  const message = 'these apps belong to several organizations; name apps of one organization'
  throw invalid([{ path: 'app', message }])
}

/** @throws Refusal 400 `invalid_request` if the metric has no proceeds. */
function assertBasis({ metric }: CohortsQuery, basis: Basis): void {
  if (basis === 'gross' || MEASURES[metric].unit === 'money') return
  throw invalid([{ path: 'basis', message: `${metric} is not available as proceeds; use basis=gross` }])
}

function requirePayerGrain(grain: Grain): 'day' | 'week' | 'month' {
  if (grain !== 'year') return grain
  const message = 'arppu is available by day, week or month'
  throw invalid([{ path: 'by', message }])
}

function spanOf({ from, to }: CohortsQuery, today: number): { from: number; until: number } {
  const until = to === undefined ? today : dayNumber(to)
  const span = {
    from: from === undefined ? dayNumber(addDays(dayText(until), -DEFAULT_SPAN_DAYS)) : dayNumber(from),
    until,
  }
  if (span.from <= until && until - span.from <= MAX_SPAN_DAYS) return span
  const message =
    span.from > until ? 'must not be after `to`' : `must be at most ${MAX_SPAN_DAYS} days before \`to\``
  throw invalid([{ path: 'from', message }])
}

type CohortRow = Record<string, CsvValue>

/** One line for each cohort and each cell within it. */
function* rowsOf(metric: CohortMetric, table: readonly object[]): Generator<CohortRow, void> {
  const within = metric === 'retention' ? 'renewals' : metric === 'ltv' ? 'values' : null
  for (const cohort of table) {
    const { renewals, values, ...cohortFields } = cohort as Record<string, unknown>
    const cells = within === null ? [{}] : ((within === 'renewals' ? renewals : values) as object[])
    for (const cell of cells) yield { ...cohortFields, ...cell } as CohortRow
  }
}
