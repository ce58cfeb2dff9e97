/** `/api/v1/metrics` and `/api/v1/overview`: definitions, series and the overview. */
import type { H3Event } from 'h3'
import type * as v from 'valibot'
import type { Readers, Reading } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { csvLine, csvSlices } from '../../http/csv.ts'
import { invalid } from '../../http/parse.ts'
import { jsonInSlices } from '../../http/response.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { COHORT_METRICS } from '../../metrics/cohorts/descriptions.ts'
import { CUSTOMER_WORDS } from '../../metrics/customers/descriptions.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../metrics/definitions/definitions.ts'
import { COVERAGE_WORDS } from '../../metrics/reports/descriptions.ts'
import { overviewCsv, seriesCsv } from '../../metrics/series/csv.ts'
import type { Overview } from '../../metrics/series/overview.ts'
import { metricNamed, OverviewQuery, questionOf, SeriesQuery } from '../../metrics/series/question.ts'
import type { Behind } from '../../metrics/series/questions.ts'
import { zoneOf } from '../../metrics/series/range.ts'
import type { SeriesOf } from '../../metrics/series/series.ts'
import { csvResponse, PATIENCE_MS, patienceOf, RATIONED, READ } from '../route_defaults.ts'
import { DefinitionsAnswer, OverviewSchema, SeriesSchema } from './answers.ts'
import { basisFor } from './guest_basis.ts'
import { openPlaces } from './metric_scope.ts'

type Deps = {
  series: SeriesOf
  overview: Overview
  organizations: Organizations
  apps: Apps
  readers: Readers
}

const CSV = '.csv'
const NO_LAYOUT = 'is for comma-separated values; add .csv to the name of the metric'

const AS_CSV = { description: 'The same as comma-separated values', content_type: 'text/csv' } as const
const REFUSALS = { ...RATIONED, 400: 'organization_needed', 403: 'not_for_guests' } as const
const METRICS_READ = { ...READ, tag: 'Metrics' } as const
const OVERVIEW = { ...METRICS_READ, query: OverviewQuery, refusals: REFUSALS } as const

type Csv = { parts: AsyncGenerator<string, void>; behind?: Behind | null; table?: string }

export const metricRoutes = (deps: Deps): Route[] => [
  ...definitionRoutes(deps),
  seriesRoute(deps),
  ...overviewRoutes(deps),
]

function csvAnswer(event: H3Event, readers: Readers, name: string, { parts, behind = null, table }: Csv) {
  readers.noteExport(event, table ?? name)
  return csvResponse(event, name, parts, behind)
}

const allDefinitions = () => ({
  metrics: METRIC_NAMES.map((name) => DEFINITIONS[name]),
  cohorts: Object.entries(COHORT_METRICS).map(([name, words]) => ({ name, ...words })),
  customers: CUSTOMER_WORDS,
  coverage: COVERAGE_WORDS,
})

const definitionRoutes = ({ readers }: Deps): Route[] => [
  defineRoute({
    ...METRICS_READ,
    path: '/api/v1/metrics',
    summary: 'What every metric means, and how it can be split and filtered',
    access: readers.viewer,
    answers: { 200: { description: 'Every metric', schema: DefinitionsAnswer } },
    handler: allDefinitions,
  }),
  defineRoute({
    ...METRICS_READ,
    path: '/api/v1/metrics.csv',
    summary: 'What every metric means, as comma-separated values',
    access: readers.viewer,
    answers: { 200: AS_CSV },
    handler: ({ event }) => csvAnswer(event, readers, 'metrics', { parts: definitionsCsv(allDefinitions()) }),
  }),
]

function seriesRoute({ series, organizations, apps, readers }: Deps): Route {
  const { scopeOf } = openPlaces({ organizations, apps })

  return defineRoute({
    ...METRICS_READ,
    path: '/api/v1/metrics/:name',
    summary:
      'A metric by day, week, month or fiscal month; with `.csv` at the end of its name as comma-separated values',
    description:
      'Amounts are whole thousandths of the currency named. A level is that at the end of a day, week or month, or now.',
    access: readers.viewer,
    query: SeriesQuery,
    answers: { 200: { description: 'Its series', schema: SeriesSchema } },
    refusals: { ...REFUSALS, 400: 'unknown_metric, organization_needed' },
    around: readers.rationed,
    async handler({ event, caller, params, query }) {
      const isCsv = params.name.endsWith(CSV)
      const name = metricNamed(isCsv ? params.name.slice(0, -CSV.length) : params.name)
      if (!isCsv && query.layout !== undefined) throw invalid([{ path: 'layout', message: NO_LAYOUT }])
      const basis = basisFor(caller, DEFINITIONS[name], query)
      const request = { ...query, zone: zoneOf(query), basis }
      const scope = scopeOf(caller.reach, request)
      const question = questionOf(name, request, series.todayOf(scope))
      const answer = await series.answer(scope, question, patienceOf(event) ?? (isCsv ? PATIENCE_MS : null))
      if (!isCsv) return jsonInSlices(answer, 'series')
      const parts = seriesCsv(answer, query.layout)
      return csvAnswer(event, readers, name, { parts, behind: answer.behind, table: `metrics/${name}` })
    },
  })
}

function overviewRoutes({ overview, organizations, apps, readers }: Deps): Route[] {
  const { scopesOf } = openPlaces({ organizations, apps })

  type Query = v.InferOutput<typeof OverviewQuery>
  const answerOf = ({ reach, basis }: Reading, query: Query, patience_ms: number | null) =>
    overview(scopesOf(reach, query), basis ?? query.basis, patience_ms)

  return [
    defineRoute({
      ...OVERVIEW,
      path: '/api/v1/overview',
      summary: 'Today’s levels, this month’s flows, and both a month before, of each organization',
      access: readers.viewer,
      around: readers.rationed,
      answers: { 200: { description: 'Each organization', schema: OverviewSchema } },
      handler: ({ event, caller, query }) => answerOf(caller, query, patienceOf(event)),
    }),
    defineRoute({
      ...OVERVIEW,
      path: '/api/v1/overview.csv',
      summary: 'The overview as comma-separated values',
      access: readers.viewer,
      around: readers.rationed,
      answers: { 200: AS_CSV },
      async handler({ event, caller, query }) {
        const answer = await answerOf(caller, query, patienceOf(event) ?? PATIENCE_MS)
        const behind = answer.organizations.find((one) => one.behind !== null)?.behind ?? null
        return csvAnswer(event, readers, 'overview', { parts: overviewCsv(answer), behind })
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
