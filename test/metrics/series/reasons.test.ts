/** Why points are null or incomplete: every such point has a code, and no other has one. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import {
  REASON_TEXTS,
  REASONS,
  type ReasonRange,
  reasonRanges,
  reasonsOn,
} from '../../../src/metrics/series/reasons.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { openLate } from '../reports/late_connection.ts'
import { openTestLedger } from '../test_ledger.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 2, 1, 17, 30)

test('ranges join neighboring buckets with the same reason, and overlap where a bucket has several', () => {
  const buckets = [1, 2, 3, 4].map((day) => ({ from: 20_000 + day, until: 20_000 + day }))
  const ranges = reasonRanges(buckets, [
    ['no_reports'],
    ['no_reports', 'not_converted'],
    [],
    ['no_reports', 'unfinished'],
  ])
  expect(ranges).toEqual([
    { reason: 'no_reports', from_on: '2024-10-05', until_on: '2024-10-06' },
    { reason: 'not_converted', from_on: '2024-10-06', until_on: '2024-10-06' },
    { reason: 'no_reports', from_on: '2024-10-08', until_on: '2024-10-08' },
    { reason: 'unfinished', from_on: '2024-10-08', until_on: '2024-10-08' },
  ])
  expect(reasonsOn(ranges, '2024-10-06')).toEqual(['no_reports', 'not_converted'])
  expect(reasonsOn(ranges, '2024-10-07')).toEqual([])
})

const QUERIES = [
  'interval=day',
  'interval=month',
  'interval=week&split=app',
  'interval=day&refunds=purchase_day',
]

test('each incomplete point of a store connected late has a reason, and no complete one has', async () => {
  const late = await openLate({ subscribers: 40, from: NOW - 200 * DAY, connected: NOW - 40 * DAY })
  await late.live(NOW)
  await late.importAll(150)
  const headers = { authorization: `Bearer ${await late.token()}` }
  const seriesOf = async (path: string): Promise<SeriesAnswer['series']> => {
    const response = await late.request(path, { headers })
    // Not every metric has refunds.
    return response.status === 200 ? ((await response.json()) as SeriesAnswer).series : []
  }
  const found = new Set<string>()
  const paths = METRIC_NAMES.flatMap((name) =>
    QUERIES.map((query) => `/api/v1/metrics/${name}?from=2025-09-01&to=2026-03-01&${query}`),
  )
  for (const path of paths)
    for (const { part, value, points, reasons } of await seriesOf(path)) {
      const codes = points.map(({ on }) => reasonsOn(reasons, on))
      for (const code of codes.flat()) found.add(code)
      const isWhole = codes.map((some) => some.length === 0)
      expect(isWhole, `${path} ${part} ${value}`).toEqual(points.map(({ complete }) => complete))
    }
  const wanted = [
    'before_ledger',
    'no_reports',
    'not_in_reports',
    'joined',
    'older_unknown',
    'grace',
    'unfinished',
  ]
  expect([...found]).toEqual(expect.arrayContaining(wanted))
}, 120_000)

test('a CSV has the codes of each line, in both layouts', async () => {
  const { get, getMetric, notifyTransaction } = await openTestLedger({
    heard_at: Date.parse('2026-05-30T12:00:00Z'),
  })
  await notifyTransaction('1', 0, '2026-05-31', '2026-06-30', {
    price: 9_000,
    currency: 'EUR',
    storefront: 'DEU',
  })
  const range = 'revenue?from=2026-05-29&to=2026-06-01&part=new'
  const expected = ['before_ledger', 'before_ledger', 'not_converted', 'unfinished']
  const { series } = await getMetric(range)
  expect(series[0]?.reasons satisfies ReasonRange[] | undefined).toEqual([
    { reason: 'before_ledger', from_on: '2026-05-29', until_on: '2026-05-30' },
    { reason: 'not_converted', from_on: '2026-05-31', until_on: '2026-05-31' },
    { reason: 'unfinished', from_on: '2026-06-01', until_on: '2026-06-01' },
  ])
  for (const layout of ['long', 'wide']) {
    const [header = '', ...lines] = (
      await (await get(`metrics/${range.replace('?', '.csv?')}&layout=${layout}`)).text()
    )
      .trim()
      .split(/\r?\n/)
    expect(header.split(',').at(-1)).toBe('reasons')
    expect(
      lines.map((line) => line.split(',').at(-1)),
      layout,
    ).toEqual(expected)
  }
})

test('the documentation lists the codes', () => {
  const text = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
  for (const code of REASONS) expect(text).toContain(`| \`${code}\` | ${REASON_TEXTS[code]} |`)
})
