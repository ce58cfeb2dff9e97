/**
 * What nobody observed is null, never zero: every metric by every split, view, basis and interval, and every other place
 * that shows figures, of stores that were connected today, that only their sandbox is heard of, or that nothing is.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openDigestReader } from '../../../src/alerts/digests/reading.ts'
import { openWidgetFigures, WIDGET_METRICS } from '../../../src/alerts/widgets/figures.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import type { OverviewAnswer } from '../../../src/metrics/series/overview.ts'
import type { Point } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { dataBody, outerPayload, transactionPayload } from '../../apple/samples.ts'
import type { TestApp } from '../../helpers.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { type Cells, download, level, sale, subscriptionEvent } from '../../ledger/reports/samples.ts'
import { openTestLedger } from '../test_ledger.ts'

const DAY_MS = 86_400_000
const FIGURES = ['milli', 'count', 'ratio', 'numerator', 'denominator'] as const

/** Every request for a metric: each basis, view and split by day, and each interval of the whole. */
const requests = (range: string, intervals: readonly string[] = ['day', 'week', 'month']): string[] =>
  METRIC_NAMES.flatMap((name) => {
    const { bases, views, splits } = DEFINITIONS[name]
    const options = (key: string, values: readonly string[]) => ['', ...values.map((one) => `&${key}=${one}`)]
    const viewNames = views.map((view) => view.name)
    return options('basis', bases).flatMap((basis) =>
      options('view', viewNames).flatMap((view) =>
        intervals.flatMap((interval) =>
          options('split', interval === 'day' ? splits : []).map(
            (split) => `${name}?${range}&interval=${interval}&compare=previous${basis}${view}${split}`,
          ),
        ),
      ),
    )
  })

function openReader(app: TestApp) {
  let token: Promise<string> | undefined
  async function text(path: string): Promise<string> {
    token ??= app.token()
    const response = await app.request(`/api/v1/${path}`, {
      headers: { authorization: `Bearer ${await token}` },
    })
    const body = await response.text()
    expect(`${path} ${response.status}`, body).toBe(`${path} 200`)
    return body
  }
  const get = async <Answer>(path: string): Promise<Answer> => JSON.parse(await text(path)) as Answer
  return { text, get }
}

/** The points of an answer that have a figure, as texts. */
function knownIn(
  path: string,
  { series, previous }: SeriesAnswer,
  isAsked: (on: string) => boolean,
): string[] {
  const all = [...series, ...(previous?.series ?? [])]
  return all.flatMap(({ part, value, points }) =>
    points
      .filter((point) => isAsked(point.on) && !isUnknown(point))
      .map((point) => `${path} ${part} ${value} ${JSON.stringify(point)}`),
  )
}

const isUnknown = (point: Point): boolean =>
  !point.complete && FIGURES.every((name) => point[name] === undefined || point[name] === null)

/** The cells of a CSV that are figures and not empty. */
function knownCells(csv: string): string[] {
  const [header = '', ...lines] = csv.trim().split(/\r?\n/)
  const columns = header.split(',')
  return lines.flatMap((line) => {
    const cells = line.split(',')
    return ['amount', 'count', 'ratio', 'numerator', 'denominator'].flatMap((name) => {
      const at = columns.indexOf(name)
      return at >= 0 && cells[at] ? [line] : []
    })
  })
}

/** Fails if any metric has a figure in a range of days that nobody observed. */
async function expectUnknown(app: TestApp, range: string, intervals?: readonly string[]): Promise<void> {
  const { get, text } = openReader(app)
  const known: string[] = []
  for (const path of requests(range, intervals)) {
    known.push(...knownIn(path, await get(`metrics/${path}`), () => true))
    if (!path.includes('split='))
      known.push(...knownCells(await text(`metrics/${path.replace('?', '.csv?')}`)))
  }
  expect(known).toEqual([])
}

const TODAY_FIGURES = ['sales', 'trials', 'renewals', 'refunds', 'cancellations'] as const
type Today = Record<(typeof TODAY_FIGURES)[number], { count: number | null; milli?: number | null }> & {
  revenue: Point
  usual: { milli: number | null; weeks: number; days: Point[] }
  mrr: Record<'milli' | 'count' | 'change_milli' | 'change_ratio' | 'no_period', number | null> & {
    points: Point[]
  }
  yesterday: { gross: Point; proceeds: Point; estimated_share: number | null }
}

/** Fails if the overview, today, a widget or a digest has a figure of a store of which nothing was heard. */
async function expectNoFigures(app: TestApp): Promise<void> {
  const { get, text } = openReader(app)
  const { organizations } = await get<OverviewAnswer>('overview')
  const figures = organizations[0]?.figures ?? []
  expect(figures.length).toBeGreaterThan(METRIC_NAMES.length)
  expect(figures.filter(({ now, previous }) => !isUnknown(now) || !isUnknown(previous))).toEqual([])
  expect(knownCells(await text('overview.csv'))).toEqual([])
  const today = await get<Today>('today')
  expect([today.revenue, today.yesterday.gross, today.yesterday.proceeds].every(isUnknown)).toBe(true)
  expect(today.usual).toMatchObject({ milli: null, weeks: 0, days: [] })
  expect(today.mrr.points.every(isUnknown)).toBe(true)
  expect(today.mrr).toMatchObject({ milli: null, count: null, change_milli: null, change_ratio: null })
  for (const name of TODAY_FIGURES)
    expect([name, today[name].count, today[name].milli ?? null]).toEqual([name, null, null])
  const { figures: shown } = await widgetOf(app)
  for (const { name, value, before, spark } of shown)
    expect([name, value, before, new Set(spark)]).toEqual([name, null, null, new Set([null])])
  const digest = await digestOf(app)
  expect(digest).toMatchObject({
    revenue: { value: null, usual: null, usual_of: 0 },
    proceeds: { value: null, usual: null },
    mrr: { milli: null, before_milli: null, movements: [] },
    trials: { started: { value: null }, active: null, ended: null, converted: null },
    churn: { ratio: null, lost: null, of: null },
    failed_payments: { count: null, before: null, at_risk_milli: null },
    best_country: null,
  })
}

const widgetOf = ({ windfall, organization, clock }: TestApp) =>
  openWidgetFigures({ series: windfall.series, clock }).read({
    organization,
    apps: windfall.apps.list(),
    metrics: WIDGET_METRICS.map(({ name }) => name),
  })

/** The figures of the weekly digest that is made on the day of the clock. */
const digestOf = ({ windfall, organization, clock }: TestApp) =>
  openDigestReader({ ...windfall, clock, findings: () => Promise.resolve([]) }).read(
    organization,
    'weekly',
    Math.floor(clock() / DAY_MS),
  )

/** A renewal that arrives today, of a subscription since March 2025, and a purchase of May of which only this is known. */
async function openConnectedToday() {
  const ledger = await openTestLedger({ heard_at: null })
  const { notifyTransaction } = ledger
  const old = { originalPurchaseDate: Date.parse('2025-03-01'), originalTransactionId: '7' }
  await notifyTransaction('1', 5, '2026-06-01T08:00:00Z', '2026-07-01T08:00:00Z', old, old, 'DID_RENEW')
  await notifyTransaction('2', 0, '2026-05-20', '2026-06-20')
  await ledger.app.windfall.metrics.whenCurrent()
  return ledger
}

describe('a store connected today without reports', () => {
  test('has no figure of a day before', async () => {
    const { app } = await openConnectedToday()
    await expectUnknown(app, 'from=2026-03-30&to=2026-05-31')
  }, 60_000)

  test('has figures of today, which are not compared with what nobody saw', async () => {
    const { app, getMetric } = await openConnectedToday()
    const { get } = openReader(app)
    const point = async (path: string) => (await getMetric(path)).series[0]?.points.at(-1)
    expect(await point('revenue?from=2026-06-01')).toMatchObject({ milli: 9_990, count: 1, complete: false })
    expect(await point('mrr?from=2026-06-01')).toMatchObject({ milli: 19_980, count: 2, complete: false })
    // What is known of May and of the week is today only.
    expect(await point('revenue?from=2026-05-01&to=2026-06-01&interval=week')).toMatchObject({ milli: 9_990 })
    expect(await point('net_new_mrr?from=2026-06-01')).toMatchObject({ milli: null, complete: false })
    expect(await point('churn_rate?from=2026-06-01')).toMatchObject({ ratio: null, denominator: null })
    const { organizations } = await get<OverviewAnswer>('overview')
    const mrr = organizations[0]?.figures.find(({ metric }) => metric === 'mrr')
    expect(mrr).toMatchObject({ now: { milli: 19_980 }, previous: { milli: null, count: null } })
    const today = await get<Today>('today')
    expect(today).toMatchObject({
      revenue: { milli: 9_990 },
      usual: { milli: null, weeks: 0 },
      mrr: { milli: 19_980, change_milli: null, change_ratio: null },
      yesterday: { gross: { milli: null }, proceeds: { milli: null } },
    })
    expect(today.mrr.points.slice(0, -1).every(isUnknown)).toBe(true)
    const { figures } = await widgetOf(app)
    for (const { name, before } of figures) expect([name, before]).toEqual([name, null])
    expect(await digestOf(app)).toMatchObject({
      revenue: { value: null, usual: null, usual_of: 0 },
      mrr: { milli: null, before_milli: null, movements: [] },
    })
  })

  test('is complete once it was heard of from midnight on, and its level once each older one had to renew', async () => {
    const { app, getMetric, notifyTransaction } = await openConnectedToday()
    app.clock.set(Date.parse('2026-06-03T12:00:00Z'))
    const point = async (path: string) => (await getMetric(path)).series[0]?.points[0]
    expect(await point('revenue?from=2026-06-02')).toMatchObject({ milli: 0, count: 0, complete: true })
    expect(await point('mrr?from=2026-06-02')).toMatchObject({ count: 2, complete: false })
    expect(await point('churn_rate?from=2026-06-02')).toMatchObject({ denominator: 2, complete: false })
    app.clock.set(Date.parse('2027-06-05T12:00:00Z'))
    await notifyTransaction('3', 0, '2027-06-04', '2027-07-04')
    expect(await point('mrr?from=2027-06-01')).toMatchObject({ complete: false })
    expect(await point('mrr?from=2027-06-04')).toMatchObject({ milli: 9_990, complete: true })
  })

  test('counts days in the zone of the organization, and a day on which it was connected is partial', async () => {
    // 22:00 of June 1st in New York, 19:00 in California, and June 2nd in Berlin.
    for (const [time_zone, on] of [
      ['America/New_York', '2026-06-01'],
      ['Europe/Berlin', '2026-06-02'],
      ['America/Los_Angeles', '2026-06-01'],
    ] as const) {
      const { app, getMetric } = await openTestLedger({ heard_at: null, time_zone })
      await app.hear(Date.parse('2026-06-02T02:00:00Z'))
      app.clock.set(Date.parse('2026-06-06T12:00:00Z'))
      const { series } = await getMetric('revenue?from=2026-05-30&to=2026-06-04')
      const points = series[0]?.points ?? []
      expect(points.find(({ milli }) => milli !== null)?.on, time_zone).toBe(on)
      expect(
        points.filter(({ milli, complete }) => milli !== null && !complete).map((one) => one.on),
      ).toEqual([on])
    }
  })
})

test('a store of whose sandbox only something was heard has no figure in production', async () => {
  const { app, getMetric } = await openTestLedger({ heard_at: null })
  const on = Date.parse('2026-06-01T08:00:00Z')
  const sold = { transactionId: '1', originalTransactionId: '1', purchaseDate: on, originalPurchaseDate: on }
  const fields = { ...sold, environment: 'Sandbox', price: 9_990, transactionReason: 'PURCHASE' }
  const signedTransactionInfo = app.authority.sign(transactionPayload(fields))
  const body = dataBody({ environment: 'Sandbox', signedTransactionInfo })
  const outer = { notificationUUID: randomUUID(), notificationType: 'SUBSCRIBED' }
  expect((await app.notify(outerPayload(body, outer))).status).toBe(200)
  await app.windfall.metrics.whenCurrent()
  await expectUnknown(app, 'from=2026-05-25&to=2026-06-01')
  await expectNoFigures(app)
  const today = await getMetric('revenue?from=2026-06-01&environment=sandbox')
  expect(today.series[0]?.points[0]).toMatchObject({ milli: 9_990, count: 1 })
  await expectUnknown(app, 'from=2026-05-25&to=2026-05-31&environment=sandbox')
}, 60_000)

test('an app that nothing was heard of has no figure at all', async () => {
  const { app } = await openTestLedger({ heard_at: null })
  await expectUnknown(app, 'from=2026-05-25&to=2026-06-01')
  await expectUnknown(app, 'from=2026-05-25&to=2026-06-01&environment=sandbox')
  await expectNoFigures(app)
}, 60_000)

test('cohorts that began before anything was heard are absent, and the first is not complete', async () => {
  const { app, notifyTransaction, get } = await openTestLedger({
    heard_at: Date.parse('2026-03-15T12:00:00Z'),
  })
  await notifyTransaction('1', 0, '2026-02-10', '2026-03-10')
  await notifyTransaction('2', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('3', 0, '2026-03-20', '2026-04-20')
  await notifyTransaction('4', 0, '2026-04-05', '2026-05-05')
  await app.windfall.metrics.whenCurrent()
  type Cohort = {
    cohort: string
    customers?: number
    size?: number
    values: { complete: boolean }[]
    complete: boolean
  }
  const read = async (query: string, from = '2026-02-01') =>
    (await (await get(`cohorts?from=${from}&${query}`)).json()) as { reasons: object[]; cohorts: Cohort[] }
  const ltv = await read('metric=ltv&days=0')
  expect(ltv.reasons).toEqual([{ reason: 'before_ledger', from_on: '2026-02-01', until_on: '2026-03-15' }])
  expect(ltv.cohorts).toMatchObject([
    { cohort: '2026-03-01', customers: 1, values: [{ complete: false }] },
    { cohort: '2026-04-01', customers: 1, values: [{ complete: true }] },
  ])
  for (const metric of ['retention', 'arppu'])
    expect((await read(`metric=${metric}`)).cohorts.map(({ cohort }) => cohort)).toEqual([
      '2026-03-01',
      '2026-04-01',
    ])
  expect((await read('metric=arppu')).cohorts.map(({ complete }) => complete)).toEqual([false, true])
  // 70 % of each charge. ARPPU has all of a month, LTV the customers who began since something was heard.
  type Proceeds = {
    proceeds_known: object
    cohorts: { net_milli: number; values: { net_milli: number }[] }[]
  }
  const proceeds = async (metric: string) =>
    (await (await get(`cohorts?from=2026-02-01&basis=proceeds&metric=${metric}`)).json()) as Proceeds
  const [payers, realized] = [await proceeds('arppu'), await proceeds('ltv&days=0')]
  expect(payers.cohorts.map(({ net_milli }) => net_milli)).toEqual([13_986, 6_993])
  expect(payers.proceeds_known).toEqual({ exact: 0, ratio: 0, estimated: 20_979 })
  expect(realized.cohorts.map(({ values }) => values[0]?.net_milli)).toEqual([6_993, 6_993])
  expect(realized.proceeds_known).toEqual({ exact: 0, ratio: 0, estimated: 13_986 })
  // A range within a month has the days of that month.
  expect((await read('metric=arppu', '2026-03-20')).reasons).toEqual([
    { reason: 'before_ledger', from_on: '2026-03-01', until_on: '2026-03-15' },
  ])
  const never = await openTestLedger({ heard_at: null })
  expect(await (await never.get('cohorts?metric=ltv&from=2026-05-01')).json()).toMatchObject({
    reasons: [{ reason: 'never_heard', from_on: '2026-05-01', until_on: '2026-06-01' }],
    cohorts: [],
  })
})

test('a sum over apps is partial where one was not heard of, and is that of the others', async () => {
  const { app, getMetric, notifyTransaction } = await openTestLedger()
  const { store, apps } = app.windfall
  await notifyTransaction('1', 0, '2026-05-20', '2026-06-20')
  const point = async () => (await getMetric('revenue?from=2026-05-20&to=2026-05-20')).series[0]?.points[0]
  expect(await point()).toMatchObject({ milli: 9_990, complete: true })
  await store.commit(() => apps.add(app.organization.id, { bundle_id: 'com.example.chord' }, 'test'))
  expect(await point()).toMatchObject({ milli: 9_990, complete: false })
  const split = await getMetric('revenue?from=2026-05-20&to=2026-05-20&split=app')
  expect(split.series.map(({ value }) => value)).toEqual(['com.example.lantern'])
  expect(split.series[0]?.points[0]).toMatchObject({ milli: 9_990, complete: true })
})

type Apple = Awaited<ReturnType<typeof openApple>>

/** Hears of the app, and imports five days of which some have no reports any more. */
async function importWithout(
  gone: readonly string[],
  apple: Apple,
  app: Awaited<ReturnType<Apple['openWindfall']>>,
) {
  for (const day of gone)
    for (const kind of ['sales', 'subscription', 'subscription_event'] as const)
      apple.setReply(kind, day, 'gone')
  await app.hear(app.clock() - 3_600_000)
  await app.imports.run({ days: 5 })
  await app.windfall.reported.settled()
  await app.windfall.metrics.whenCurrent()
  return openReader(app)
}

test('a store connected today with reports has figures of their days only', async () => {
  const DAYS = ['2026-04-29', '2026-04-30', '2026-05-01']
  const cells: Cells = { 'Active Standard Price Subscriptions': '10' }
  const apple = await openApple()
  const app = await apple.openWindfall()
  for (const day of DAYS) {
    const [, month, date] = day.split('-')
    const on = { 'Begin Date': `${month}/${date}/2026`, 'End Date': `${month}/${date}/2026` }
    apple.setReply('sales', day, [sale(on), download(on)])
    apple.setReply('subscription', day, [level(cells)])
    apple.setReply('subscription_event', day, [subscriptionEvent({ 'Event Date': day })])
  }
  const { get } = await importWithout(['2026-04-27', '2026-04-28'], apple, app)
  await expectUnknown(app, 'from=2026-04-01&to=2026-04-28&zone=pacific', ['day'])
  const known: string[] = []
  for (const path of requests('from=2026-04-29&to=2026-05-01&zone=pacific', ['day'])) {
    const ofLedger = /^(mrr_movements|mrr_churn_rate|quick_ratio|status|mrr_at_risk)|view=cohort/.test(path)
    if (!ofLedger) continue
    const answer = await get<SeriesAnswer>(`metrics/${path}`)
    // The change of a level is known where the reports have the level before.
    const itemised = answer.series.filter(({ part }) => part !== 'not_itemised')
    const series = path.startsWith('mrr_movements') ? itemised.filter(({ part }) => part !== null) : itemised
    known.push(...knownIn(path, { ...answer, series }, (on) => on <= '2026-05-01'))
  }
  expect(known).toEqual([])
  const of = async (path: string) =>
    (await get<SeriesAnswer>(`metrics/${path}&from=2026-04-28&to=2026-05-02&zone=pacific`)).series[0]?.points
  const counts = async (path: string) => (await of(path))?.map(({ count }) => count)
  expect(await counts('mrr?')).toEqual([null, 11, 11, 11, 11])
  expect(await counts('revenue?')).toEqual([null, 2, 2, 2, 0])
  expect(await counts('downloads?')).toEqual([null, 5, 5, 5, null])
}, 60_000)

test('an app that no report contains has no figure before the first report, and none of a day without one', async () => {
  const apple = await openApple()
  const app = await apple.openWindfall()
  const other = { 'App Apple ID': '999', 'App Name': 'Other' }
  for (const day of ['2026-04-28', '2026-04-29', '2026-05-01']) {
    apple.setReply('sales', day, [sale({ 'Parent Identifier': 'OTHER-1' })])
    apple.setReply('subscription', day, [level(other)])
    apple.setReply('subscription_event', day, [subscriptionEvent({ ...other, 'Event Date': day })])
  }
  const { get } = await importWithout(['2026-04-27', '2026-04-30'], apple, app)
  await expectUnknown(app, 'from=2026-04-01&to=2026-04-27&zone=pacific', ['day'])
  const figures = async (path: string, zone: string) => {
    const range = `from=2026-04-27&to=2026-05-02&zone=${zone}`
    const { series } = await get<SeriesAnswer>(`metrics/${path}${range}`)
    const [{ points, reasons } = { points: [], reasons: [] }] = series
    const text = points.map(({ count, complete }) => `${count}${complete ? '' : '~'}`).join(' ')
    return { text, reasons: reasons.map(({ reason, from_on }) => `${from_on.slice(5)} ${reason}`) }
  }
  const reasons = ['04-27 before_ledger', '04-30 no_reports', '05-02 unfinished']
  for (const path of ['revenue?', 'mrr?', 'active_trials?', 'new_trials?', 'revenue?basis=proceeds&'])
    expect(await figures(path, 'pacific'), path).toEqual({ text: 'null~ 0 0 null~ 0 0~', reasons })
  // The reports’ days begin at seven in the morning.
  expect(await figures('revenue?', 'own')).toEqual({
    text: 'null~ 0~ 0 null~ null~ 0~',
    reasons: ['04-27 before_ledger', '04-30 no_reports', '05-02 unfinished'],
  })
}, 60_000)
