import * as v from 'valibot'
import { beforeAll, expect, test } from 'vitest'
import { CustomerAnswer } from '../../../src/api/customers/answers.ts'
import { OverviewSchema, SeriesSchema } from '../../../src/api/metrics/answers.ts'
import { addDays } from '../../../src/days.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import type { OverviewAnswer } from '../../../src/metrics/series/overview.ts'
import type { Point } from '../../../src/metrics/series/points.ts'
import { reasonsOn } from '../../../src/metrics/series/reasons.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { openTestLedger } from '../../metrics/test_ledger.ts'

const OTHER = 'com.example.other'
const RANGE = 'interval=month&from=2026-03-01&to=2026-06-01'

/** Cells of comma-separated values, by the RFC: quoted where they hold a comma, a quote or a line's end. */
function cellsOf(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true)
  return text
    .slice(0, -2)
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^",]*)(?:,|$)/g)]
        .slice(0, -1)
        .map(([, cell = '']) => cell.replace(/^"|"$/g, '').replaceAll('""', '"'))
        .concat(/,$/.test(line) ? [''] : []),
    )
}

/** A monthly subscription from March on, and a yearly one in euros that no rate is known for. */
async function openTwo() {
  const ledger = await openTestLedger()
  await ledger.notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await ledger.notifyTransaction(
    '1',
    1,
    '2026-04-10',
    '2026-05-10',
    {},
    { autoRenewStatus: 0, expirationIntent: 1 },
  )
  const odd = { productId: 'yearly, "best"', price: 29_940, currency: 'EUR', storefront: 'DEU' }
  await ledger.notifyTransaction('2', 0, '2026-04-15', '2027-04-15', odd)
  return ledger
}

test('every metric has a definition with its data', async () => {
  const { get } = await openTestLedger()
  const response = await get('metrics')
  type DefinitionAnswer = { name: string; title: string; sentence: string; formula: string }
  const { metrics, ...others } = (await response.json()) as Record<string, DefinitionAnswer[]>
  expect(Object.keys(others)).toEqual(['cohorts', 'customers', 'coverage'])
  for (const { name, title, sentence, formula } of Object.values(others).flat())
    expect([name, title, sentence, formula].every((text) => text !== '')).toBe(true)
  expect(others.cohorts?.map(({ name }) => name)).toEqual(['retention', 'ltv', 'arppu', 'recovery'])
  // Every number of a customer has its words.
  const numbers = Object.keys(CustomerAnswer.entries).filter((name) => name.endsWith('_milli'))
  expect(others.customers?.map(({ name }) => name)).toEqual(expect.arrayContaining(numbers))
  expect(metrics).toEqual(METRIC_NAMES.map((name) => DEFINITIONS[name]))
  for (const { name, title, sentence, formula } of Object.values(DEFINITIONS)) {
    expect([title, sentence, formula].every((text) => text !== '')).toBe(true)
    expect((await get(`metrics/${name}`)).status).toBe(200)
  }
  const csv = cellsOf(await (await get('metrics.csv')).text())
  expect(csv.slice(1).map(([name]) => name)).toEqual([...METRIC_NAMES])
})

const decimal = (milli: number): string => (milli / 1000).toFixed(3)
const plain = (one: number | null | undefined): string =>
  one === undefined || one === null ? '' : String(one)

function figureCells({ ratio_of, currency }: SeriesAnswer, point: Point): string[] {
  const { milli, count, ratio, numerator, denominator, complete, not_converted = [] } = point
  const isMoney = ratio_of === 'money'
  const share = (one: number | null | undefined) =>
    isMoney && typeof one === 'number' ? decimal(one) : plain(one)
  const left = not_converted.map((one) => {
    const of = `${decimal(one.numerator ?? 0)} of ${decimal(one.denominator ?? 0)}`
    return `${one.currency} ${one.milli === undefined ? of : decimal(one.milli)}`
  })
  return [
    typeof milli === 'number' ? decimal(milli) : '',
    milli === undefined && !isMoney ? '' : (currency ?? ''),
    plain(count),
    plain(ratio),
    share(numerator),
    share(denominator),
    String(complete),
    left.join('; '),
  ]
}

test.each([
  `mrr?${RANGE}&split=product&compare=previous`,
  `mrr_movements?${RANGE}`,
  `revenue?${RANGE}&split=currency`,
  `churn_rate?${RANGE}`,
  `mrr_churn_rate?${RANGE}`,
  'active_trials?from=2026-05-30',
])('%s says the same as comma-separated values', async (path) => {
  const { getMetric, get } = await openTwo()
  const answer = await getMetric(path)
  const response = await get(`metrics/${path.replace('?', '.csv?')}`)
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [header = [], ...rows] = cellsOf(await response.text())
  const stretches = [answer, ...(answer.previous ? [answer.previous] : [])]
  const lastDay = (next: string | null, range = answer.range): string =>
    next === null ? range.until_on : addDays(next, -1)
  const expected = stretches.flatMap(({ series }, when) =>
    series.flatMap(({ value, others, part, points, reasons }) =>
      points.map((point, at) => [
        answer.metric,
        when === 0 ? 'asked' : 'previous',
        point.on,
        answer.interval,
        answer.split ?? '',
        value ?? '',
        String(others),
        part ?? '',
        ...figureCells(answer, point),
        'calendar',
        ...(answer.interval === 'day' ? [] : [lastDay(points[at + 1]?.on ?? null, stretches[when]?.range)]),
        reasonsOn(reasons, point.on).join(' '),
      ]),
    ),
  )
  expect(rows).toEqual(expected)
  expect(rows.length).toBeGreaterThan(2)
  expect(new Set(rows.map((row) => row.length))).toEqual(new Set([header.length]))
})

test.each([
  ['revenue.csv?from=2026-05-01&to=2026-05-31&split=country', 'revenue-by-country-2026-05.csv'],
  ['revenue.csv?from=2026-05-02&to=2026-05-02', 'revenue-2026-05-02.csv'],
  ['mrr.csv?from=2026-05-02&to=2026-05-31&layout=wide', 'mrr-2026-05-02-to-2026-05-31-wide.csv'],
])('the file of metrics/%s is %s', async (path, name) => {
  const { get } = await openTwo()
  const { headers } = await get(`metrics/${path}`)
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
})

test('a CSV can have a column for each series, and contains the previous range only on request', async () => {
  const { get } = await openTwo()
  const wide = async (path: string) =>
    cellsOf(await (await get(`metrics/${path}&${RANGE}&layout=wide`)).text())
  // 9.990 a month from March to May; the yearly one in euros has no rate.
  expect(await wide('mrr.csv?split=product&limit=1')).toEqual([
    ['on', 'until_on', 'monthly', 'others', 'currency', 'complete', 'month_length', 'reasons'],
    ['2026-03-01', '2026-03-31', '9.990', '0.000', 'USD', 'true', 'calendar', ''],
    ['2026-04-01', '2026-04-30', '9.990', '', 'USD', 'false', 'calendar', 'not_converted'],
    ['2026-05-01', '2026-05-31', '0.000', '', 'USD', 'false', 'calendar', 'not_converted'],
    ['2026-06-01', '2026-06-01', '0.000', '', 'USD', 'false', 'calendar', 'unfinished not_converted'],
  ])
  const [head, ...rows] = await wide('active_subscriptions.csv?compare=previous')
  expect(head).toEqual([
    'range',
    'on',
    'until_on',
    'active_subscriptions',
    'complete',
    'month_length',
    'reasons',
  ])
  expect(rows.map(([range, on]) => `${range} ${on}`)).toEqual([
    'asked 2026-03-01',
    'asked 2026-04-01',
    'asked 2026-05-01',
    'asked 2026-06-01',
    'previous 2025-11-01',
    'previous 2025-12-01',
    'previous 2026-01-01',
    'previous 2026-02-01',
  ])
  // Without `compare` a sum over the file is the sum of the range.
  const long = cellsOf(await (await get(`metrics/revenue.csv?${RANGE}&split=country`)).text())
  expect(new Set(long.slice(1).map(([, range]) => range))).toEqual(new Set(['asked']))
  const refused = await get('metrics/mrr?layout=wide')
  const { errors } = (await refused.json()) as { errors: object[] }
  expect([refused.status, errors]).toEqual([
    400,
    [{ path: 'layout', message: expect.stringContaining('.csv') }],
  ])
})

test('compares with the previous range of the same length', async () => {
  const { getMetric } = await openTwo()
  const monthly = await getMetric('revenue?interval=month&from=2026-04-01&to=2026-05-15&compare=previous')
  expect(monthly).toMatchObject({ from_on: '2026-04-01', until_on: '2026-05-31' })
  expect(monthly.previous).toMatchObject({ from_on: '2026-02-01', until_on: '2026-03-31' })
  expect(monthly.previous?.range).toEqual({ from_on: '2026-02-01', until_on: '2026-03-15' })
  // Twelve days that begin with no month are compared with twelve days.
  const days = await getMetric('revenue?interval=month&from=2026-04-20&to=2026-05-01&compare=previous')
  expect(days.previous?.range).toEqual({ from_on: '2026-04-08', until_on: '2026-04-19' })
  const points = monthly.previous?.series[0]?.points.map(({ on, milli, complete }) => [on, milli, complete])
  expect(points).toEqual([
    ['2026-02-01', 0, true],
    ['2026-03-01', 9_990, true],
  ])
  const daily = await getMetric('revenue?from=2026-05-31&compare=previous')
  expect(daily.previous).toMatchObject({ from_on: '2026-05-29', until_on: '2026-05-30' })
  const weekly = await getMetric('revenue?interval=week&from=2026-06-01&compare=previous')
  expect(weekly).toMatchObject({ from_on: '2026-06-01', until_on: '2026-06-07' })
  expect(weekly.previous).toMatchObject({ from_on: '2026-05-25', until_on: '2026-05-31' })
})

test('compares with the same dates of the year before, or with the same fiscal months', async () => {
  const { getMetric } = await openTwo()
  const rangeBefore = async (query: string) => {
    const { previous } = await getMetric(`revenue?${query}&compare=year`)
    return [previous?.range.from_on, previous?.range.until_on]
  }
  expect(await rangeBefore('from=2026-03-01&to=2026-05-31')).toEqual(['2025-03-01', '2025-05-31'])
  expect(await rangeBefore('from=2025-02-28&to=2025-03-01')).toEqual(['2024-02-28', '2024-03-01'])
  expect(await rangeBefore('from=2024-02-29&to=2024-03-02')).toEqual(['2023-02-28', '2023-03-02'])
  expect(await rangeBefore('interval=week&from=2026-05-25&to=2026-06-01')).toEqual([
    '2025-05-25',
    '2025-06-01',
  ])
  expect(await rangeBefore('interval=month&from=2026-04-20&to=2026-05-01')).toEqual([
    '2025-04-20',
    '2025-05-01',
  ])
  expect(await rangeBefore('interval=fiscal_month&from=2026-05-20&to=2026-05-25')).toEqual([
    '2025-05-21',
    '2025-05-26',
  ])
})

test('the default range is thirty days, half a year of weeks, or a year of months, up to today', async () => {
  const { getMetric } = await openTwo()
  expect(await getMetric('mrr')).toMatchObject({ from_on: '2026-05-03', until_on: '2026-06-01' })
  expect(await getMetric('mrr?interval=week')).toMatchObject({
    from_on: '2025-12-08',
    until_on: '2026-06-07',
  })
  expect(await getMetric('mrr?interval=month')).toMatchObject({
    from_on: '2025-07-01',
    until_on: '2026-06-30',
  })
  // What lies ahead is left out.
  expect(await getMetric('mrr?from=2026-05-30&to=2027-01-01')).toMatchObject({ until_on: '2026-06-01' })
})

test('the answers have the documented fields', async () => {
  const { get } = await openTestLedger()
  v.parse(OverviewSchema, await (await get('overview')).json())
  for (const name of METRIC_NAMES)
    v.parse(SeriesSchema, await (await get(`metrics/${name}?interval=week&compare=previous`)).json())
})

test('the overview has today’s levels, this month’s flows, and both a month before', async () => {
  const { app, notifyTransaction, get } = await openTwo()
  app.clock.set(Date.UTC(2026, 4, 12, 12))
  await notifyTransaction('3', 0, '2026-05-11', '2026-06-11', { price: 4_990 })
  const body = (await (await get('overview')).json()) as OverviewAnswer
  const [organization] = body.organizations
  expect(organization).toMatchObject({
    organization_id: app.organization.id,
    currency: 'USD',
    time_zone: 'UTC',
    today_on: '2026-05-12',
    this_month: { from_on: '2026-05-01', until_on: '2026-05-12' },
    previous: { from_on: '2026-04-01', until_on: '2026-04-12' },
  })
  const figure = (metric: string, part: string | null = null) =>
    organization?.figures.find((one) => one.metric === metric && one.part === part)
  // 4.990 dollars, and 29.940 ÷ 12 euros; on 12 April the first subscription, still.
  expect(figure('mrr')).toMatchObject({
    unit: 'money',
    currency: 'USD',
    now: { milli: 4_990, count: 2, complete: false, not_converted: [{ currency: 'EUR', milli: 2_495 }] },
    previous: { on: '2026-04-12', milli: 9_990, count: 1, complete: true },
  })
  expect(figure('revenue')).toMatchObject({ now: { milli: 4_990 }, previous: { milli: 9_990 } })
  expect(figure('churn_rate')).toMatchObject({ now: { ratio: 0.5 }, previous: { ratio: 0, denominator: 1 } })
  expect(figure('revenue', 'refunds')).toMatchObject({ now: { milli: 0 }, previous: { milli: 0 } })
  expect(new Set(organization?.figures.map(({ metric }) => metric))).toEqual(new Set(METRIC_NAMES))

  const [header = [], ...rows] = cellsOf(await (await get('overview.csv')).text())
  expect(rows).toHaveLength(2 * (organization?.figures.length ?? 0))
  const mrr = rows.find(([, metric, part, range]) => metric === 'mrr' && part === '' && range === 'now') ?? []
  expect(Object.fromEntries(header.map((name, index) => [name, mrr[index]]))).toMatchObject({
    amount: '4.990',
    currency: 'USD',
    count: '2',
    complete: 'false',
    not_converted: 'EUR 2.495',
  })
})

test('a token reads its own apps and organization; several organizations are never summed', async () => {
  const { app, get } = await openTwo()
  const { windfall, organization } = app
  const { store, organizations, apps, tokens } = windfall
  const otherOrganization = { ...organization, slug: 'elsewhere', name: 'Elsewhere', currency: 'EUR' }
  await store.commit(() => organizations.declare([organization, otherOrganization]))
  const second = organizations.list().find(({ slug }) => slug === 'elsewhere')
  const [own] = apps.list()
  const other = await store.commit(() => apps.add(organization.id, { bundle_id: OTHER }, 'test'))
  const theirs = await store.commit(() =>
    apps.add(second?.id ?? '', { bundle_id: 'com.example.theirs' }, 'test'),
  )
  const make = (organization_id: string | null, some: string[] | null) =>
    store.commit(() => tokens.create('x', { organization_id, apps: some }).token)
  const read = async (path: string, bearer: string) => {
    const response = await get(`metrics/${path}`, bearer)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const narrow = await make(organization.id, [other.id])
  const narrowed = await read(`mrr?${RANGE}`, narrow)
  expect(narrowed.body).toMatchObject({ apps: [other.id] })
  expect((await read(`mrr?app=${own?.bundle_id}`, narrow)).body).toMatchObject({
    status: 404,
    code: 'unknown_app',
  })
  const whole = await make(organization.id, null)
  expect((await read('mrr', whole)).body).toMatchObject({ apps: [own?.id, other.id], currency: 'USD' })
  expect((await read(`mrr?app=${own?.bundle_id}&split=app`, whole)).body).toMatchObject({ apps: [own?.id] })

  const all = await make(null, null)
  expect(await read('mrr', all)).toMatchObject({
    status: 400,
    body: { code: 'organization_needed', detail: expect.stringContaining(`${second?.id} (elsewhere)`) },
  })
  expect((await read(`mrr?organization=${second?.id}`, all)).body).toMatchObject({
    apps: [theirs.id],
    currency: 'EUR',
  })
  expect((await read('mrr?organization=nobody', all)).body).toMatchObject({ code: 'unknown_app' })
  const { organizations: reported } = (await (await get('overview', all)).json()) as OverviewAnswer
  expect(reported.map(({ organization_id, currency }) => [organization_id, currency])).toEqual([
    [organization.id, 'USD'],
    [second?.id, 'EUR'],
  ])
  const empty = await make('org_nowhere', null)
  expect((await read('mrr', empty)).body).toMatchObject({ status: 404, code: 'unknown_app' })
  for (const path of ['metrics', 'metrics.csv', 'metrics/mrr', 'metrics/mrr.csv', 'overview', 'overview.csv'])
    expect((await get(path, 'wf_nothing')).status).toBe(401)
})

let ledger: Awaited<ReturnType<typeof openTestLedger>>
beforeAll(async () => {
  ledger = await openTestLedger()
})

test.each([
  ['mrr?from=2026-02-30', 'from', 'must be a day, YYYY-MM-DD'],
  ['mrr?from=2026-05-02&to=2026-05-01', 'to', 'must not be before 2026-05-02, the first day'],
  ['mrr?from=2026-06-02', 'from', 'must not be in the future; today is 2026-06-01'],
  ['mrr?from=2026-06-02&to=2026-06-09', 'from', 'must not be in the future; today is 2026-06-01'],
  ['mrr?from=2021-05-31', 'from', 'must be at most 5 years before the last day'],
  ['mrr?interval=hour', 'interval', 'day'],
  [
    'mrr?split=store',
    'split',
    'mrr has no split store; it has: app, product, country, period, offer, currency',
  ],
  ['new_trials?split=offer', 'split', 'new_trials has no split offer; it has: app, product, country, period'],
  ['new_trials?currency=EUR', 'currency', 'new_trials has no filter currency; it has: app, product'],
  ['mrr_movements?split=currency', 'split', 'mrr_movements has no split currency'],
  ['mrr?platform=ios', 'platform', 'is not a parameter; expected one of: app, organization'],
  ['mrr?from=2026-05-01&from=2026-05-02', 'from', 'must be given only once'],
  ['mrr?country=DE', 'country', 'must be country codes of three letters, such as USA'],
  ['mrr?country=,', 'country', 'must name at least one'],
  ['mrr?period=monthly', 'period', 'must be periods such as P1M'],
  ['mrr?offer=gift', 'offer', 'must be among trial, free_offer, intro, offer, paid, none'],
  ['mrr?currency=euro', 'currency', 'must be a currency code of three letters, such as EUR'],
  ['mrr?attribute=plan', 'attribute', 'must be a key, "=" and a value, such as plan=pro'],
  ['mrr?attribute=a%22b=c', 'attribute', 'must be a key, "=" and a value, such as plan=pro'],
  ['mrr?limit=0', 'limit', 'must be at least 1'],
  ['mrr?limit=101', 'limit', 'must be at most 100'],
  ['mrr?limit=many', 'limit', 'must be a whole number'],
  ['mrr?find=pro', 'find', 'needs a split'],
  [`mrr?split=product&find=${'x'.repeat(101)}`, 'find', 'must have at most 100 characters'],
  ['mrr?view=two_buckets', 'view', 'mrr has no view two_buckets; it has: none'],
  ['trial_conversion?view=x', 'view', 'trial_conversion has no view x; it has: ended, cohort'],
  ['revenue?part=tips', 'part', 'revenue has no part tips; it has: new, renewal, one_time'],
  ['mrr_movements?part=churned', 'part', 'the view kinds has no part churned; it has: new, opening'],
  ['trial_conversion?part=lost', 'part', 'the view ended has no part lost; it has: none'],
  [
    'revenue?refunds=purchase_day&part=refund_reversed',
    'part',
    'revenue with refunds=purchase_day has no part refund_reversed; it has: new, renewal',
  ],
  ['mrr?refunds=purchase_day', 'refunds', 'mrr has no refunds; use revenue'],
  ['churn_rate?basis=proceeds', 'basis', 'churn_rate is not available as proceeds; use basis=gross'],
  ['revenue?basis=proceeds&attribute=a=b', 'basis', 'proceeds are not available by attribute'],
  ['mrr_movements?basis=proceeds', 'basis', 'mrr_movements is not available as proceeds; use basis=gross'],
  ['mrr?basis=net', 'basis', 'proceeds'],
  ['mrr?zone=mars', 'zone', 'pacific'],
  ['mrr?environment=xcode', 'environment', 'sandbox'],
  ['mrr?compare=decade', 'compare', 'previous'],
])('%s is refused by name', async (path, name, message) => {
  const { get } = ledger
  for (const url of [path, path.replace('?', '.csv?')]) {
    const response = await get(`metrics/${url}`)
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: expect.arrayContaining([{ path: name, message: expect.stringContaining(message) }]),
      },
    })
  }
})

test('refuses an unknown metric and lists the known ones', async () => {
  const { get } = ledger
  for (const name of ['weather', 'weather.csv', 'MRR', '%6Drr%20', 'toString']) {
    const response = await get(`metrics/${name}`)
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: { code: 'unknown_metric', detail: expect.stringContaining('use one of: mrr, arr, ') },
    })
  }
})
