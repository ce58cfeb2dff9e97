/** A store whose history before November only reports have, compared with the store’s own books. */
import { beforeAll, expect, test } from 'vitest'
import { addDays, pacificDay, pacificDayOf } from '../../../src/days.ts'
import type { Joined, JoinedMeasure } from '../../../src/metrics/joined/days.ts'
import { dayNumber, dayText } from '../../../src/metrics/lineage/calendar.ts'
import { monthlyMilli } from '../../../src/metrics/lineage/months.ts'
import { CERTAINTIES, type ProceedsCertainty } from '../../../src/metrics/lineage/proceeds.ts'
import type { SumQuery } from '../../../src/metrics/sums/tallies.ts'
import { rowsOf } from '../../helpers.ts'
import { nonEmpty } from '../../non_empty.ts'
import { DAY, type Late, NOW, openLate, reportedSums } from './late_connection.ts'

const CONNECTED = NOW - 60 * DAY
const IMPORTED = NOW - 6 * DAY
const DAYS = 80
const TODAY = Math.floor(NOW / DAY)
const FIRST = TODAY - DAYS + 10
const CHARGES: JoinedMeasure[] = ['revenue.new', 'revenue.renewal', 'revenue.one_time']

let late: Late
beforeAll(async () => {
  late = await openLate({ subscribers: 350, connected: CONNECTED })
  const refresh = () => late.windfall.rates.refresh(new AbortController().signal)
  await late.live(IMPORTED)
  await refresh()
  await late.importAll(DAYS)
  await late.live(NOW)
  await refresh()
  await late.windfall.metrics.whenCurrent()
  await late.windfall.reported.settled()
}, 60_000)

const shown = () => late.windfall.metrics.generations.shown(late.organization.id)
const queryOf = (app: Late['apps'][number], more: object = {}) => ({
  ...({ app, environment: 'production', zone: 'own', filters: {}, split: null } as const),
  shown: shown(),
  currency: null,
  from: FIRST,
  until: TODAY,
  ...more,
})

/** From the books: the active paid subscriptions of an app at an instant, and their MRR in a currency. */
function truth(bundle_id: string, at: number, currency: string | null) {
  const alive = late.simulation.books
    .activeSubscriptions(at)
    .filter((segment) => segment.bundle_id === bundle_id)
  const own = alive.filter((segment) => currency === null || segment.currency === currency)
  const worth = own.map(({ price_milli, period }) => monthlyMilli(price_milli, period, 'calendar') ?? 0)
  return { milli: worth.reduce((sum, one) => sum + one, 0), count: alive.length }
}

test('MRR equals the books in each currency: from reports, anchored, and across the cutover', async () => {
  const sources = new Set<string>()
  for (const app of nonEmpty(late.apps)) {
    for (const currency of ['USD', 'EUR', 'JPY']) {
      const { days, values } = await late.windfall.reported.read(queryOf(app, { currency }), 'mrr')
      for (const [index, { day, source, is_known }] of days.entries()) {
        sources.add(source)
        const isPacific = source === 'reports'
        const at = isPacific ? pacificDay(dayText(day)).until - 1 : Math.min(NOW, (day + 1) * DAY - 1)
        const books = truth(app.bundle_id, at, currency).milli
        const shown = values.get('')?.[index]?.milli ?? 0
        expect(is_known).toBe(true)
        expect(
          Math.abs(shown - books),
          `${app.bundle_id} ${currency} ${dayText(day)} ${source}`,
        ).toBeLessThanOrEqual(books * 0.005)
      }
    }
  }
  expect(sources).toContain('reports')
  expect(sources).toContain('anchored')
})

test('in the base currency the series continues after the last report without a jump', async () => {
  const { reported, rates } = late.windfall
  for (const app of nonEmpty(late.apps)) {
    const whole = await reported.read(queryOf(app), 'mrr')
    const last = whole.days.findLastIndex(({ source }) => source === 'reports')
    const shown = whole.values.get('') ?? []
    const level = shown[last]?.milli ?? 0
    expect(whole.days[last + 1]?.source).toBe('anchored')
    let moved = 0
    for (const currency of ['USD', 'EUR', 'GBP', 'JPY', 'AUD', 'BRL', 'CAD', 'SEK', 'MXN']) {
      const { values } = await reported.read(queryOf(app, { currency }), 'mrr')
      const line = values.get('') ?? []
      const change = (line[last + 1]?.milli ?? 0) - (line[last]?.milli ?? 0)
      moved += rates.convert(change, currency, 'USD', dayText(FIRST + last))?.milli ?? Number.NaN
    }
    expect(Math.abs((shown[last + 1]?.milli ?? 0) - level - moved)).toBeLessThanOrEqual(level * 0.005)
  }
})

test('customers without notifications count: the ledger alone has fewer', async () => {
  const activeCount = late.windfall.store.prepare<[string], { count: number }>(`
    select sum(count) as count from metric_rows join metric_lineages on id = lineage_id
    join metric_counted using (generation, lineage_id)
    where app_id = ? and environment = 'production' and measure = 'mrr' and known_at <= counted_at`)
  let [heard, shown, books] = [0, 0, 0]
  for (const app of nonEmpty(late.apps)) {
    heard += activeCount.get(app.id)?.count ?? 0
    shown += (await late.windfall.reported.read(queryOf(app), 'mrr')).values.get('')?.at(-1)?.count ?? 0
    books += truth(app.bundle_id, NOW, null).count
  }
  expect(shown).toBe(books)
  expect(heard).toBeLessThan(books * 0.9)
})

test('the sums of reports equal the books’ report lines to the thousandth, gross and proceeds', () => {
  const { reported, apps } = late.windfall
  const last = pacificDayOf(IMPORTED)
  const first = addDays(last, -DAYS)
  for (const app of nonEmpty(apps.list())) {
    const lines = late.appStore
      .reported({ from: first, until: last })
      .filter(({ bundle_id, product_type }) => bundle_id === app.bundle_id && product_type.startsWith('IA'))
    for (const [basis, column] of [
      ['revenue', 'gross_milli'],
      ['proceeds', 'proceeds_milli'],
    ] as const) {
      const books = new Map<string, number>()
      for (const line of lines) books.set(line.currency, (books.get(line.currency) ?? 0) + line[column])
      const days = { from: dayNumber(first), until: dayNumber(last) }
      const range = { ...days, shown: shown(), app, filters: {}, split: null }
      for (const [currency, milli] of books) {
        const sum = (...kinds: ('new' | 'renewal' | 'one_time' | 'refund' | 'proration')[]) =>
          kinds
            .flatMap(
              (kind) =>
                reported.readReportsOnly({ ...range, currency }, `${basis}.${kind}`).values.get('') ?? [],
            )
            .reduce((total, one) => total + one.milli, 0)
        expect(sum('new', 'renewal', 'one_time') - sum('refund', 'proration')).toBe(milli)
      }
    }
    const downloads = late.appStore
      .reported({ from: first, until: last })
      .filter(({ bundle_id, product_type }) => bundle_id === app.bundle_id && /^F?1/.test(product_type))
      .reduce((sum, { units }) => sum + units, 0)
    const range = {
      shown: shown(),
      app,
      filters: {},
      split: null,
      currency: null,
      from: dayNumber(first),
      until: dayNumber(last),
    }
    const days = reported.readReportsOnly(range, 'downloads').values.get('') ?? []
    expect(days.reduce((sum, { count }) => sum + count, 0)).toBe(downloads)
  }
})

test('charges across the cutover of flows equal the books: none twice, none left out', async () => {
  for (const app of nonEmpty(late.apps)) {
    const cutover = late.windfall.reported.cutoverOf(app.id, 'flows')
    // The first notification of a small app arrives some days later.
    expect(cutover?.day).toBeGreaterThan(dayNumber(pacificDayOf(CONNECTED)))
    // Reports of Pacific days up to the cutover, and the ledger up to now: one continuous range.
    const range = { from: pacificDay(dayText(FIRST)).from, until: NOW, bundle_id: app.bundle_id }
    const books = late.simulation.books.charged(range)
    for (const currency of ['USD', 'EUR', 'GBP', 'JPY', 'AUD', 'BRL', 'CAD', 'SEK', 'MXN']) {
      let shown = 0
      for (const measure of CHARGES) {
        const { days, values } = await late.windfall.reported.read(queryOf(app, { currency }), measure)
        const mixed = days.filter(({ is_complete }) => !is_complete)
        expect(mixed.map(({ day }) => day)).toEqual([cutover?.day])
        shown += (values.get('') ?? []).reduce((sum, { milli }) => sum + milli, 0)
      }
      expect(shown, currency).toBe(books[currency] ?? 0)
    }
  }
})

test('the parts of a split or filtered level sum to the total, by product ids and alpha-3 countries', async () => {
  for (const app of nonEmpty(late.apps)) {
    const whole = (await late.windfall.reported.read(queryOf(app), 'mrr')).values.get('') ?? []
    for (const split of ['product', 'country', 'period', 'offer', 'currency'] as const) {
      const { values } = await late.windfall.reported.read(queryOf(app, { split }), 'mrr')
      const sums = whole.map((_, index) =>
        [...values.values()].reduce((sum, line) => sum + (line[index]?.milli ?? 0), 0),
      )
      expect(sums).toEqual(whole.map(({ milli }) => milli))
      if (split === 'country')
        expect([...values.keys()].filter((key) => !/^([A-Z]{3})?$/.test(key))).toEqual([])
      if (split === 'product') expect([...values.keys()].filter((key) => /^\d+$/.test(key))).toEqual([])
    }
    const products = [
      ...(await late.windfall.reported.read(queryOf(app, { split: 'product' }), 'mrr')).values,
    ]
    const [[product, line] = ['', []]] = products
    const only = await late.windfall.reported.read(queryOf(app, { filters: { product: [product] } }), 'mrr')
    expect(only.values.get('')).toEqual(line)
  }
})

test('joined proceeds are exact from reports, and have their certainty from the ledger', async () => {
  const [app] = late.apps
  if (!app) throw new Error('there is no app')
  const gross = await late.windfall.reported.read(queryOf(app), 'revenue.renewal')
  const net = await late.windfall.reported.read(queryOf(app, { basis: 'proceeds' }), 'revenue.renewal')
  const sum = (line: { milli: number }[] | undefined) => (line ?? []).reduce((all, one) => all + one.milli, 0)
  const [paid, got] = [sum(gross.values.get('')), sum(net.values.get(''))]
  expect(got / paid).toBeGreaterThan(0.55)
  expect(got / paid).toBeLessThan(0.86)
  const knownIn = ({ days, basis }: Joined, certainty: ProceedsCertainty) =>
    sum(days.map(({ day }) => basis(certainty)(day)))
  expect(knownIn(net, 'exact')).toBeGreaterThan(0)
  expect(sum(CERTAINTIES.map((one) => ({ milli: knownIn(net, one) })))).toBe(got)
  const mrr = await late.windfall.reported.read(queryOf(app, { basis: 'proceeds' }), 'mrr')
  expect(knownIn(mrr, 'estimated')).toBe(0)
  expect(knownIn(mrr, 'ratio')).toBeGreaterThan(0)
})

test('tallies with reports give the levels shown', async () => {
  const { reported, series } = late.windfall
  const buckets = Array.from({ length: 8 }, (_, week) => ({
    from: FIRST + week * 7,
    until: FIRST + week * 7 + 6,
  }))
  const reading = {
    shown: shown(),
    ...({ apps: late.apps.map(({ id }) => id), environment: 'production', zone: 'own' } as const),
    ...({ measures: ['mrr', 'mrr.new'], levels: ['mrr'], buckets, filters: {} } as const),
    ...({ attribute: null, split: 'app', currency: null } as const),
  }
  const readLedger = async (one: SumQuery) => ({ tallies: await series.read(one), unconverted: new Map() })
  const options = { basis: 'gross', of_money: true } as const
  const { tallies, from } = await reported.readTallies(reading, readLedger, options)
  const joined = from.filter((one) => !one.is_optional)
  expect(joined.map(({ measure }) => measure)).toEqual(late.apps.map(() => 'mrr'))
  for (const app of nonEmpty(late.apps)) {
    const tally = tallies.get(app.id)?.get('mrr')
    const { values } = await reported.read(queryOf(app, { until: FIRST + 55 }), 'mrr')
    const changes = [...(tally?.milli ?? [])].reduce((sum, one) => sum + one, 0)
    expect((tally?.sumBefore.milli ?? 0) + changes).toBe(values.get('')?.at(-1)?.milli)
  }
})

test('coverage names every cause, and the causes sum to the residue', async () => {
  const response = await late.request('/api/v1/coverage', {
    headers: { authorization: `Bearer ${await late.token()}` },
  })
  expect(response.status).toBe(200)
  const { coverage, cutovers } = (await response.json()) as {
    coverage: {
      metric: string
      unit: string
      currency: string | null
      month: string
      reports: number
      ledger: number
      residue: Record<string, number>
    }[]
    cutovers: { metric: string }[]
  }
  expect(new Set(coverage.map(({ metric }) => metric))).toEqual(
    new Set(['mrr', 'active_subscriptions', 'active_trials', 'revenue', 'refunds', 'new_trials']),
  )
  for (const { reports, ledger, residue } of coverage) {
    const causes = Object.values(residue).reduce((sum, part) => sum + part, 0)
    expect(Math.abs(causes - (reports - ledger))).toBeLessThan(1e-6)
  }
  const revenue = coverage.filter(({ metric }) => metric === 'revenue')
  expect(revenue[0]?.residue.before_first_notification).toBeGreaterThan(0)
  const [last] = revenue.slice(-1)
  expect(Math.abs(last?.residue.unknown ?? 1)).toBeLessThanOrEqual((last?.reports ?? 0) * 0.02)
  expect(cutovers.map(({ metric }) => metric)).toContain('flows')
  const table = await late.request('/api/v1/coverage.csv', {
    headers: { authorization: `Bearer ${await late.token()}` },
  })
  const [head, ...lines] = (await table.text()).trimEnd().split('\r\n')
  expect(head).toMatch(/^app_id,month,metric,unit,currency,day_on,reports,ledger,share,before_first_notif/)
  const days = coverage.map(({ ledger, unit, currency }) =>
    unit === 'money' ? [currency, (ledger / 1000).toFixed(3)] : ['', String(ledger)],
  )
  expect(lines.map((line) => [line.split(',')[4], line.split(',')[7]])).toEqual(days)
  expect(days.map(([currency]) => currency)).toContain('USD')
  const none = await late.request('/api/v1/coverage?from=2026-13', {
    headers: { authorization: `Bearer ${await late.token()}` },
  })
  expect(none.status).toBe(400)
})

test('the next generation has the same sums of reports and changes no price', async () => {
  const { store, metrics, reported } = late.windfall
  const tables = ['reported_prices', 'reported_products', 'reported_lengths']
  const before = { id: shown().id, kept: tables.map((table) => rowsOf(store, table)) }
  const sums = reportedSums(store, before.id)
  expect(sums.length).toBeGreaterThan(1_000)
  let changes = 0
  reported.onPrices(() => {
    changes += 1
  })
  await metrics.rebuild()
  await reported.settled()
  expect(shown().id).not.toBe(before.id)
  expect(reportedSums(store, shown().id)).toEqual(sums)
  expect(reportedSums(store, before.id)).toEqual([])
  expect(tables.map((table) => rowsOf(store, table))).toEqual(before.kept)
  expect(changes).toBe(0)
})
