/** What may be asked: how customers and subscriptions that began together fared. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Clock } from '../clock.ts'
import { addDays, isDay } from '../days.ts'
import { Refusal } from '../errors.ts'
import { type CsvValue, csvHead, csvRow } from '../http/csv.ts'
import type { Route } from '../http/route.ts'
import { dayNumber, dayText, openCalendar } from '../metrics/calendar.ts'
import { type Cohorts, GRAINS, type Grain } from '../metrics/cohorts/cohorts.ts'
import { COHORT_METRICS, type CohortMetric } from '../metrics/cohorts/words.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { asked as askedIn } from '../metrics/question.ts'
import { CohortsAnswer } from './cohort_answers.ts'
import { basisFor } from './guests.ts'
import type { Readers } from './readers.ts'
import { csvHeaders, GUESTS_READ, REFUSED } from './reading.ts'
import { appsNamed, appsWithin, list } from './scope.ts'

const DAYS_ASKED = [0, 1, 3, 7, 14, 30, 60, 90, 180, 270, 365]
const DAYS_MOST = 400
/** Cohorts are asked for so many days back unless said. */
const BACK_DAYS = 365
const SPAN_MOST = 4_000

const day = (description: string) =>
  v.pipe(v.string(), v.check(isDay, 'must be a day, YYYY-MM-DD'), v.description(description))
const one = (description: string) => v.optional(v.pipe(v.string(), v.description(description)))
const Query = v.object({
  metric: v.pipe(
    v.picklist(['retention', 'ltv', 'arppu', 'recovery']),
    v.description('retention, ltv, arppu or recovery'),
  ),
  by: v.optional(v.pipe(v.picklist(GRAINS), v.description('How long a cohort is')), 'month'),
  from: v.optional(day('Cohorts from the one that has this day; a year back unless said')),
  to: v.optional(day('Cohorts up to the one that has this day; today unless said')),
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  environment: v.optional(v.picklist(['production', 'sandbox']), 'production'),
  product: one('A product id'),
  country: one('A storefront, alpha-3 as Apple names it'),
  days: v.optional(
    v.pipe(
      list,
      v.maxLength(DAYS_MOST, `must be at most ${DAYS_MOST} numbers`),
      v.check(
        (all) => all.every((text) => /^\d{1,4}$/.test(text)),
        'must be whole numbers of days, separated by commas',
      ),
      v.description('For ltv: up to and with which days after the first payment'),
    ),
  ),
})
type Asked = v.InferOutput<typeof Query>

type Deps = {
  cohorts: Cohorts
  organizations: Organizations
  apps: Apps
  readers: Readers
  clock: Clock
  metrics: Pick<Metrics, 'settingsOf' | 'ripen'>
}

export function cohortRoutes({ cohorts, organizations, apps, readers, clock, metrics }: Deps): Route[] {
  async function answer(event: H3Event) {
    const reading = readers.readingOf(event)
    const { reach } = reading
    const asked = askedIn(Query, event.url.searchParams)
    basisFor(reading, MEASURES[asked.metric], { basis: 'gross' })
    const ids = asked.app?.flatMap((name) => appsNamed(name, reach, apps))
    const chosen = appsWithin(reach, apps).filter(({ id }) => ids === undefined || ids.includes(id))
    const organization = theOne([...new Set(chosen.map(({ organization_id }) => organization_id))])
    const { time_zone, currency } = organizations.get(organization ?? '') ?? NO_ORGANIZATION
    await metrics.ripen()
    await cohorts.settle()
    const calendar = metrics.settingsOf(chosen[0]?.id ?? '')?.calendar ?? UTC
    const today = calendar.dayOf(clock())
    const { from, until } = spanOf(asked, today)
    const question = {
      scopes: chosen.map(({ id }) => ({ app_id: id, environment: asked.environment })),
      grain: asked.by,
      product_id: asked.product ?? '*',
      storefront: asked.country ?? '*',
      ...{ from, until },
    }
    const table = { ...COHORT_METRICS[asked.metric], by: asked.by, from: dayText(from), to: dayText(until) }
    return { metric: asked.metric, ...table, time_zone, currency, cohorts: tableOf(asked, question, today) }
  }

  function tableOf(asked: Asked, question: Parameters<Cohorts['retention']>[0], today: number): object[] {
    if (asked.metric === 'retention') return cohorts.retention(question, today)
    if (asked.metric === 'recovery') return cohorts.recovery(question, today)
    if (asked.metric === 'ltv') {
      const days = asked.days?.map(Number) ?? DAYS_ASKED
      return cohorts.ltv(
        question,
        [...new Set(days)].sort((a, b) => a - b),
        today,
      )
    }
    return cohorts.arppu({ ...question, grain: payersBy(asked.by) }, today)
  }

  async function csv(event: H3Event): Promise<Response> {
    const { metric, currency, cohorts: table } = await answer(event)
    const isMoney = MEASURES[metric].unit === 'money'
    const rows = rowsOf(metric, table).map((row) => (isMoney ? { ...row, currency } : row))
    const columns = Object.keys(rows[0] ?? { cohort: '' })
    const lines = rows.map((row) => csvRow(columns, row))
    return new Response([csvHead(columns), ...lines].join(''), { headers: csvHeaders('cohorts') })
  }

  return routesFor(answer, csv)
}

/** What cohorts are told in: money before tax and commission, or counts. */
const MONEY = { unit: 'money', ratio_of: null, bases: ['gross'] } as const
const COUNTS = { ...MONEY, unit: 'count' } as const
const MEASURES = { retention: COUNTS, ltv: MONEY, arppu: MONEY, recovery: COUNTS }

const UTC = openCalendar('UTC')
const NO_ORGANIZATION = { time_zone: 'UTC', currency: null }

/** Amounts of several currencies, and days of several time zones, make no table. */
function theOne(organizations: readonly string[]): string | null {
  if (organizations.length <= 1) return organizations[0] ?? null
  const message = 'these apps are of several organizations: name those of one'
  throw new Refusal(400, 'invalid_request', message, { errors: [{ path: 'app', message }] })
}

function payersBy(grain: Grain): 'day' | 'week' | 'month' {
  if (grain !== 'year') return grain
  const message = 'arppu is told by day, week or month'
  throw new Refusal(400, 'invalid_request', message, { errors: [{ path: 'by', message }] })
}

function spanOf({ from, to }: Asked, today: number): { from: number; until: number } {
  const until = to === undefined ? today : dayNumber(to)
  const span = {
    from: from === undefined ? dayNumber(addDays(dayText(until), -BACK_DAYS)) : dayNumber(from),
    until,
  }
  if (span.from <= until && until - span.from <= SPAN_MOST) return span
  const message =
    span.from > until ? 'must not be after `to`' : `must be at most ${SPAN_MOST} days before \`to\``
  throw new Refusal(400, 'invalid_request', `from: ${message}`, { errors: [{ path: 'from', message }] })
}

/** One line for each cohort and each place within it. */
function rowsOf(metric: CohortMetric, table: readonly object[]): Record<string, CsvValue>[] {
  const within = metric === 'retention' ? 'renewals' : metric === 'ltv' ? 'values' : null
  return table.flatMap((cohort) => {
    const { renewals, values, ...own } = cohort as Record<string, unknown>
    const places = within === null ? [{}] : ((within === 'renewals' ? renewals : values) as object[])
    return places.map((place) => ({ ...own, ...place }) as Record<string, CsvValue>)
  })
}

function routesFor(answer: Route['handler'], csv: Route['handler']): Route[] {
  return [
    {
      ...GUESTS_READ,
      query: Query,
      path: '/api/v1/cohorts',
      summary: 'Retention, realized lifetime value, revenue per payer and billing recovery by cohort',
      answers: { 200: { description: 'A row for each cohort', schema: CohortsAnswer }, ...REFUSED },
      handler: answer,
    },
    {
      ...GUESTS_READ,
      query: Query,
      path: '/api/v1/cohorts.csv',
      summary: 'The same figures as a table',
      answers: {
        200: { description: 'One line for each cohort and place', content_type: 'text/csv' },
        ...REFUSED,
      },
      handler: csv,
    },
  ]
}
