/** `/api/v1/metrics` and `/api/v1/overview`: definitions, series and the overview. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth, ViewerAccess } from '../../access/auth.ts'
import { isWithin } from '../../access/metric_limit.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { csvLine, csvSlices } from '../../http/csv.ts'
import { invalid } from '../../http/parse.ts'
import { jsonInSlices } from '../../http/response.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { COHORT_METRICS } from '../../metrics/cohorts/descriptions.ts'
import { CUSTOMER_DESCRIPTIONS } from '../../metrics/customers/descriptions.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../metrics/definitions/definitions.ts'
import { COVERAGE_DESCRIPTIONS } from '../../metrics/reports/descriptions.ts'
import { overviewCsv, seriesCsv } from '../../metrics/series/csv.ts'
import type { Overview } from '../../metrics/series/overview.ts'
import { zoneOf } from '../../metrics/series/range.ts'
import type { SeriesReader } from '../../metrics/series/series.ts'
import {
  OverviewParams,
  requireMetric,
  resolveRequest,
  SeriesParams,
} from '../../metrics/series/series_request.ts'
import type { Lag } from '../../metrics/series/snapshot_reads.ts'
import type { Rates } from '../../rates/rates.ts'
import {
  csvResponse,
  MAX_WAIT_MS,
  QUERY_LIMIT_ERRORS,
  READ_ROUTE,
  waitPreferenceOf,
} from '../route_defaults.ts'
import { DefinitionsAnswer, OverviewSchema, SeriesSchema } from './answers.ts'
import { DisplayParam, openDisplay } from './display.ts'
import { seriesFileName } from './file_name.ts'
import { basisFor } from './guest_basis.ts'
import { openMetricScopes } from './metric_scope.ts'

type Deps = {
  series: SeriesReader
  overview: Overview
  organizations: Organizations
  apps: Apps
  auth: Auth
  rates: Rates
  clock: Clock
}

const CSV_SUFFIX = '.csv'
const LAYOUT_NEEDS_CSV = 'applies to CSV only; add .csv to the name of the metric'

const CSV_ANSWER = { description: 'The same data as CSV', content_type: 'text/csv' } as const
const REFUSALS = {
  ...QUERY_LIMIT_ERRORS,
  400: 'organization_needed',
  403: 'not_for_guests, metric_not_shared',
} as const
const METRICS_ROUTE = { ...READ_ROUTE, tag: 'Metrics' } as const
const SeriesQuery = v.object({ ...SeriesParams.entries, ...DisplayParam })
const OverviewQuery = v.object({ ...OverviewParams.entries, ...DisplayParam })
const OVERVIEW_ROUTE = { ...METRICS_ROUTE, query: OverviewQuery, refusals: REFUSALS } as const

/** A CSV file in chunks. `table` is its name in the audit log if that differs from the file name. */
type CsvTable = { parts: AsyncGenerator<string, void>; behind?: Lag | null; table?: string }

export const metricRoutes = (deps: Deps): Route[] => [
  ...definitionRoutes(deps),
  seriesRoute(deps),
  ...overviewRoutes(deps),
]

function csvAnswer(event: H3Event, auth: Auth, name: string, { parts, behind = null, table }: CsvTable) {
  auth.noteExport(event, table ?? name)
  return csvResponse(event, name, parts, behind)
}

/** The definitions of the figures that the caller may read. */
const readableDefinitions = ({ metrics }: ViewerAccess) => ({
  metrics: METRIC_NAMES.filter((name) => isWithin(metrics, name)).map((name) => DEFINITIONS[name]),
  cohorts: Object.entries(COHORT_METRICS)
    .filter(([name]) => isWithin(metrics, name))
    .map(([name, description]) => ({ name, ...description })),
  customers: metrics === null ? CUSTOMER_DESCRIPTIONS : [],
  coverage: metrics === null ? COVERAGE_DESCRIPTIONS : [],
})

const definitionRoutes = ({ auth }: Deps): Route[] => [
  defineRoute({
    ...METRICS_ROUTE,
    path: '/api/v1/metrics',
    summary: 'Lists every metric with its definition, dimensions and filters',
    access: auth.viewer,
    answers: { 200: { description: 'All metrics', schema: DefinitionsAnswer } },
    handler: ({ caller }) => readableDefinitions(caller),
  }),
  defineRoute({
    ...METRICS_ROUTE,
    path: '/api/v1/metrics.csv',
    summary: 'Lists every metric as CSV',
    access: auth.viewer,
    answers: { 200: CSV_ANSWER },
    handler: ({ event, caller }) =>
      csvAnswer(event, auth, 'metrics', { parts: definitionsCsv(readableDefinitions(caller)) }),
  }),
]

function seriesRoute({ series, organizations, apps, auth, ...deps }: Deps): Route {
  const { scopeOf } = openMetricScopes({ organizations, apps })
  const display = openDisplay(deps)

  return defineRoute({
    ...METRICS_ROUTE,
    path: '/api/v1/metrics/:name',
    summary: 'Returns a metric by day, week, month or fiscal month; add `.csv` to its name for CSV',
    description:
      'Amounts are integers in thousandths of `currency`. A level is the value at the end of the day, week or month, or now.',
    access: auth.viewer,
    query: SeriesQuery,
    answers: { 200: { description: 'The series of the metric', schema: SeriesSchema } },
    refusals: { ...REFUSALS, 400: 'unknown_metric, organization_needed' },
    around: auth.limited,
    async handler({ event, caller, params, query }) {
      const isCsv = params.name.endsWith(CSV_SUFFIX)
      const name = requireMetric(isCsv ? params.name.slice(0, -CSV_SUFFIX.length) : params.name)
      if (!isCsv && query.layout !== undefined) throw invalid([{ path: 'layout', message: LAYOUT_NEEDS_CSV }])
      const basis = basisFor(caller, DEFINITIONS[name], query)
      const request = { ...query, zone: zoneOf(query), basis }
      const scope = scopeOf(caller, request)
      const resolved = resolveRequest(name, request, series.todayOf(scope))
      const wait_ms = waitPreferenceOf(event) ?? (isCsv ? MAX_WAIT_MS : null)
      const answer = await display.series(
        await series.answer(scope, resolved, wait_ms),
        query.display_currency,
      )
      if (!isCsv) return jsonInSlices(answer, 'series')
      const parts = seriesCsv(answer, query.layout)
      const file = seriesFileName(answer, query.layout ?? 'long')
      return csvAnswer(event, auth, file, { parts, behind: answer.behind, table: `metrics/${name}` })
    },
  })
}

function overviewRoutes({ overview, organizations, apps, auth, ...deps }: Deps): Route[] {
  const { scopesOf } = openMetricScopes({ organizations, apps })
  const display = openDisplay(deps)

  type Query = v.InferOutput<typeof OverviewQuery>
  async function answerOf(caller: ViewerAccess, query: Query, wait_ms: number | null) {
    const answer = await overview(scopesOf(caller, query), caller.basis ?? query.basis, wait_ms)
    return display.overview(answer, query.display_currency)
  }

  return [
    defineRoute({
      ...OVERVIEW_ROUTE,
      path: '/api/v1/overview',
      summary:
        'Returns today’s levels and this month’s flows of each organization, and those of a month before',
      access: auth.viewer,
      around: auth.limited,
      answers: { 200: { description: 'One entry for each organization', schema: OverviewSchema } },
      handler: ({ event, caller, query }) => answerOf(caller, query, waitPreferenceOf(event)),
    }),
    defineRoute({
      ...OVERVIEW_ROUTE,
      path: '/api/v1/overview.csv',
      summary: 'Returns the overview as CSV',
      access: auth.viewer,
      around: auth.limited,
      answers: { 200: CSV_ANSWER },
      async handler({ event, caller, query }) {
        const answer = await answerOf(caller, query, waitPreferenceOf(event) ?? MAX_WAIT_MS)
        const behind = answer.organizations.find((one) => one.behind !== null)?.behind ?? null
        return csvAnswer(event, auth, 'overview', { parts: overviewCsv(answer), behind })
      },
    }),
  ]
}

type Definitions = { metrics: (typeof DEFINITIONS)[keyof typeof DEFINITIONS][] }

function definitionsCsv({ metrics }: Definitions): AsyncGenerator<string, void> {
  const header = [
    'name',
    'title',
    'sentence',
    'formula',
    'unit',
    'ratio_of',
    'kind',
    'splits',
    'filters',
    'views',
  ]
  const lines = metrics.map(
    ({ name, title, sentence, formula, unit, ratio_of, kind, splits, filters, views }) =>
      csvLine([
        name,
        title,
        sentence,
        formula,
        unit,
        ratio_of,
        kind,
        splits,
        filters,
        views.map((view) => view.name),
      ]),
  )
  return csvSlices(csvLine(header), lines)
}
