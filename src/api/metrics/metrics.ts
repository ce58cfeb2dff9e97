/** What may be asked: every metric, what it means, and its figures by day, week, month or fiscal month. */
import type { H3Event } from 'h3'
import type { Readers } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { csvLine, csvSlices } from '../../http/csv.ts'
import { jsonInSlices } from '../../http/response.ts'
import type { Route } from '../../http/route.ts'
import { COHORT_METRICS } from '../../metrics/cohorts/descriptions.ts'
import { CUSTOMER_WORDS } from '../../metrics/customers/descriptions.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../metrics/definitions/definitions.ts'
import { COVERAGE_WORDS } from '../../metrics/reports/descriptions.ts'
import { overviewCsv, seriesCsv } from '../../metrics/series/csv.ts'
import type { Overview } from '../../metrics/series/overview.ts'
import {
  asked,
  metricNamed,
  OverviewQuery,
  questionOf,
  refused,
  SeriesQuery,
} from '../../metrics/series/question.ts'
import type { Behind } from '../../metrics/series/questions.ts'
import { zoneOf } from '../../metrics/series/range.ts'
import type { SeriesOf } from '../../metrics/series/series.ts'
import {
  csvResponse,
  GUESTS_READ,
  PATIENCE_MS,
  patienceOf,
  RATIONED,
  REFUSED,
  UNKNOWN,
} from '../route_defaults.ts'
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

export function metricRoutes({ series, overview, organizations, apps, readers }: Deps): Route[] {
  const { scopesOf, scopeOf } = openPlaces({ organizations, apps })
  const { rationed } = readers

  type Csv = { parts: AsyncGenerator<string, void>; behind?: Behind | null; table?: string }

  function csvAnswer(event: H3Event, name: string, { parts, behind = null, table = name }: Csv) {
    readers.noteExport(event, table)
    return csvResponse(event, name, parts, behind)
  }

  async function one(event: H3Event): Promise<unknown> {
    const reading = readers.readingOf(event)
    const path = decodeURIComponent(event.url.pathname.split('/').at(-1) ?? '')
    const isCsv = path.endsWith(CSV)
    const name = metricNamed(isCsv ? path.slice(0, -CSV.length) : path)
    const query = asked(SeriesQuery, event.url.searchParams)
    query.zone = zoneOf(query)
    if (!isCsv && query.layout !== undefined) throw refused([{ path: 'layout', message: NO_LAYOUT }])
    query.basis = basisFor(reading, DEFINITIONS[name], query)
    const scope = scopeOf(reading.reach, query)
    const question = questionOf(name, query, series.todayOf(scope))
    const answer = await series.answer(scope, question, patienceOf(event) ?? (isCsv ? PATIENCE_MS : null))
    const { behind } = answer
    const table = `metrics/${name}`
    if (isCsv) return csvAnswer(event, name, { parts: seriesCsv(answer, query.layout), behind, table })
    return jsonInSlices(answer, 'series')
  }

  const standing = (event: H3Event, least_patience_ms: number | null = null) => {
    const reading = readers.readingOf(event)
    const query = asked(OverviewQuery, event.url.searchParams)
    const patience_ms = patienceOf(event) ?? least_patience_ms
    return overview(scopesOf(reading.reach, query), reading.basis ?? query.basis, patience_ms)
  }

  async function standingCsv(event: H3Event): Promise<Response> {
    const answer = await standing(event, PATIENCE_MS)
    const behind = answer.organizations.find((one) => one.behind !== null)?.behind ?? null
    return csvAnswer(event, 'overview', { parts: overviewCsv(answer), behind })
  }

  function definitions(event: H3Event) {
    readers.readingOf(event)
    return {
      metrics: METRIC_NAMES.map((name) => DEFINITIONS[name]),
      cohorts: Object.entries(COHORT_METRICS).map(([name, words]) => ({ name, ...words })),
      customers: CUSTOMER_WORDS,
      coverage: COVERAGE_WORDS,
    }
  }

  return routesFor({
    definitions,
    definitionsCsv: (event) => csvAnswer(event, 'metrics', { parts: definitionsCsv(definitions(event)) }),
    one: rationed(one),
    overview: rationed((event) => standing(event)),
    overviewCsv: rationed(standingCsv),
  })
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

type Handlers = Record<
  'definitions' | 'definitionsCsv' | 'one' | 'overview' | 'overviewCsv',
  Route['handler']
>

const METRICS_READ = { ...GUESTS_READ, tag: 'Metrics' }
const AS_CSV = { description: 'The same as comma-separated values', content_type: 'text/csv' } as const
const REFUSALS = {
  ...REFUSED,
  400: { description: 'invalid_request, unknown_metric, organization_needed' },
  ...RATIONED,
}

function routesFor(handlers: Handlers): Route[] {
  const overview = {
    ...METRICS_READ,
    summary: 'Today’s levels, this month’s flows, and both a month before, of each organization',
    query: OverviewQuery,
  }
  return [
    {
      ...METRICS_READ,
      path: '/api/v1/metrics',
      summary: 'What every metric means, and how it can be split and filtered',
      answers: { 200: { description: 'Every metric', schema: DefinitionsAnswer }, ...UNKNOWN },
      handler: handlers.definitions,
    },
    {
      ...METRICS_READ,
      path: '/api/v1/metrics.csv',
      summary: 'What every metric means, as comma-separated values',
      answers: { 200: AS_CSV, ...UNKNOWN },
      handler: handlers.definitionsCsv,
    },
    {
      ...METRICS_READ,
      path: '/api/v1/metrics/:name',
      summary:
        'A metric by day, week, month or fiscal month; with `.csv` at the end of its name as comma-separated values',
      description:
        'Amounts are whole thousandths of the currency named. A level is that at the end of a day, week or month, or now.',
      query: SeriesQuery,
      answers: { 200: { description: 'Its series', schema: SeriesSchema }, ...REFUSALS },
      handler: handlers.one,
    },
    {
      ...overview,
      path: '/api/v1/overview',
      answers: { 200: { description: 'Each organization', schema: OverviewSchema }, ...REFUSALS },
      handler: handlers.overview,
    },
    {
      ...overview,
      path: '/api/v1/overview.csv',
      summary: 'The overview as comma-separated values',
      answers: { 200: AS_CSV, ...REFUSALS },
      handler: handlers.overviewCsv,
    },
  ]
}
