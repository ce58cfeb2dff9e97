import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { type Cell, gradeOf, gridOf, residueOf } from '../../../src/web/ui/events/coverage/grid.ts'
import { feedQuery, filtersIn, TYPES_BY_NOUN, toggleTypes } from '../../../src/web/ui/events/filters.ts'
import { jsonLines } from '../../../src/web/ui/evidence/json_lines.ts'
import { scopeFrom } from '../../../src/web/ui/scope.ts'

test('reads filters from the URL and ignores unknown values', () => {
  expect(filtersIn({ type: 'gap.found,gap.lost', origin: 'moon', since: '2026-02-31x' })).toEqual({
    types: ['gap.found'],
    origin: null,
    label: null,
    from: null,
    until: null,
  })
  const filters = filtersIn({ origin: 'backfill', since: '2026-03-01', until: '2026-03-01' })
  const { from_at, until_at, ...rest } = feedQuery(scopeFrom({ app: 'a', env: 'sandbox' }), filters)
  expect(rest).toEqual({ app: 'a', type: '', environment: 'sandbox', origin: 'backfill', label: null })
  expect(Number(until_at) - Number(from_at)).toBe(86_400_000)
})

test('lists every type once below its noun, which toggles all of its types', () => {
  expect(TYPES_BY_NOUN.flatMap(([, types]) => types).sort()).toEqual([...EVENT_TYPES].sort())
  const trials = TYPES_BY_NOUN.find(([noun]) => noun === 'trial')?.[1] ?? []
  expect(toggleTypes(['gap.found', 'trial.ended'], trials)).toEqual([
    'gap.found',
    'trial.ended',
    ...trials.filter((one) => one !== 'trial.ended'),
  ])
  expect(toggleTypes(['gap.found', ...trials], trials)).toEqual(['gap.found'])
})

test('splits JSON into lines and decodes instants by their keys', () => {
  const at = Date.UTC(2026, 0, 1)
  const lines = jsonLines({ expiresDate: at, price: at, list: [1, 'a'], none: {}, no: null })
  expect(lines.map(({ depth, key, value, at: instant }) => [depth, key, value, instant])).toEqual([
    [0, null, '{', null],
    [1, 'expiresDate', `${at}`, at],
    [1, 'price', `${at}`, null],
    [1, 'list', '[', null],
    [2, null, '1', null],
    [2, null, '"a"', null],
    [1, null, ']', null],
    [1, 'none', '{}', null],
    [1, 'no', 'null', null],
    [0, null, '}', null],
  ])
})

const nothing = { upgrade_proration: 0, refund_timing: 0, day_boundary: 0, family_sharing: 0, unknown: 0 }
const cell = (month: string, metric: Cell['metric'], share: number | null): Cell => ({
  app_id: 'a',
  month,
  metric,
  unit: 'count',
  currency: null,
  day_on: `${month}-28`,
  reports: 10,
  ledger: 9,
  share,
  residue: { ...nothing, before_first_notification: 2, exchange_rate: -3 },
})

test('lists coverage by month, oldest first, with empty cells without a report', () => {
  const { months, apps } = gridOf([
    cell('2026-01', 'mrr', 1),
    cell('2026-03', 'mrr', 0.9),
    cell('2026-01', 'refunds', null),
  ])
  expect(months).toEqual(['2026-01', '2026-03'])
  expect(apps[0]?.rows.map(({ metric, cells }) => [metric, cells.map((one) => one?.month ?? null)])).toEqual([
    ['mrr', ['2026-01', '2026-03']],
    ['refunds', ['2026-01', null]],
  ])
  expect([1, 0.991, 1.049, 0.81, 0.5, null].map(gradeOf)).toEqual([
    'whole',
    'whole',
    'near',
    'part',
    'far',
    'none',
  ])
  expect(residueOf(cell('2026-01', 'mrr', 1))).toEqual([
    { cause: 'exchange_rate', value: -3 },
    { cause: 'before_first_notification', value: 2 },
  ])
})
