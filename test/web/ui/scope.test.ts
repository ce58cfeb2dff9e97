import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { RANGES } from '../../../src/web/ui/ranges.ts'
import {
  daysOf,
  hrefInScope,
  intervalOf,
  metricQuery,
  type Scope,
  scopeFrom,
  scopeParams,
  sourceQuery,
} from '../../../src/web/ui/scope.ts'

const usual = scopeFrom({})
const queryFor = (scope: Scope): Record<string, string> =>
  Object.fromEntries(
    Object.entries(scopeParams(scope)).flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  )

test('leaves defaults out of the URL', () => {
  expect(queryFor(usual)).toEqual({})
})

test('restores every scope from its URL', () => {
  const day = fc.constantFrom('2026-01-31', '2026-02-28', '2025-12-01')
  const scope = fc.record<Scope>({
    apps: fc.uniqueArray(fc.constantFrom('app_1', 'app_2', 'app_3')),
    organization: fc.constantFrom(null, 'org_1'),
    range: fc.constantFrom(...RANGES),
    from: day,
    to: day,
    interval: fc.constantFrom(null, 'day', 'week', 'month', 'fiscal_month'),
    currency: fc.constantFrom(null, 'EUR'),
    display: fc.constantFrom(null, 'JPY'),
    basis: fc.constantFrom('gross', 'proceeds'),
    environment: fc.constantFrom('production', 'sandbox'),
    zone: fc.constantFrom('own', 'pacific'),
    compare: fc.constantFrom('none', 'previous', 'year'),
  })
  fc.assert(
    fc.property(scope, (one) => {
      const days = one.range === 'custom' ? {} : { from: null, to: null }
      expect(scopeFrom(queryFor(one))).toEqual({ ...one, ...days })
    }),
  )
})

test('replaces invalid parameters with defaults', () => {
  expect(
    scopeFrom({ range: 'ever', by: 'hour', basis: 'net', env: 'xcode', zone: 'mars', compare: 'yes' }),
  ).toEqual(usual)
})

test('the API’s names of parameters work in the address, and links use the short ones', () => {
  const present = {
    interval: 'month',
    environment: 'sandbox',
    organization: 'org_1',
    display_currency: 'EUR',
  }
  expect(scopeFrom(present)).toEqual({
    ...usual,
    interval: 'month',
    environment: 'sandbox',
    organization: 'org_1',
    display: 'EUR',
  })
  expect(hrefInScope('/revenue', present)).toBe('/revenue?org=org_1&by=month&display=EUR&env=sandbox')
})

test('ends a range today with the stated number of days', () => {
  expect(daysOf({ ...usual, range: '7d' }, '2026-03-03', null)).toEqual({
    from: '2026-02-25',
    to: '2026-03-03',
  })
  expect(daysOf({ ...usual, range: '12m' }, '2026-11-21', null)).toEqual({
    from: '2025-11-22',
    to: '2026-11-21',
  })
  expect(daysOf({ ...usual, range: 'all' }, '2026-11-21', '2024-11-30')).toEqual({
    from: '2024-11-30',
    to: '2026-11-21',
  })
})

test('limits a custom range to today and to its start', () => {
  const custom = { ...usual, range: 'custom' as const, from: '2026-05-01', to: '2027-01-01' }
  expect(daysOf(custom, '2026-11-21', null)).toEqual({ from: '2026-05-01', to: '2026-11-21' })
  expect(daysOf({ ...custom, from: '2026-12-24' }, '2026-11-21', null)).toEqual({
    from: '2026-11-21',
    to: '2026-11-21',
  })
})

test('uses weeks and months for long ranges by default', () => {
  expect([28, 100, 365, 800].map((days) => intervalOf(usual, days))).toEqual(['day', 'day', 'week', 'month'])
  expect(intervalOf({ ...usual, interval: 'day' }, 800)).toBe('day')
})

test('uses weeks from two months on where the window is narrow', () => {
  vi.stubGlobal('innerWidth', 390)
  expect([28, 60, 61, 800].map((days) => intervalOf(usual, days))).toEqual(['day', 'day', 'week', 'month'])
  expect(intervalOf({ ...usual, interval: 'day' }, 100)).toBe('day')
  vi.unstubAllGlobals()
})

test('builds the metric query from the scope', () => {
  expect(
    metricQuery({ ...usual, apps: ['app_1', 'app_2'], range: '7d', environment: 'sandbox' }, '2026-11-21'),
  ).toEqual({
    app: 'app_1,app_2',
    organization: null,
    environment: 'sandbox',
    zone: null,
    from: '2026-11-15',
    to: '2026-11-21',
    interval: 'day',
    currency: null,
    display_currency: null,
  })
})

test('keeps the scope in links and drops parameters of the view', () => {
  const present = { app: 'app_1', range: '7d', query: 'plan=pro', cursor: 'x' }
  expect(hrefInScope('/revenue', present)).toBe('/revenue?app=app_1&range=7d')
  expect(hrefInScope('/customers', present, { query: 'user-1', range: null })).toBe(
    '/customers?app=app_1&query=user-1',
  )
})

test('requests fiscal months in Pacific time', () => {
  const zone = (words: Record<string, string>) => sourceQuery(scopeFrom(words)).zone
  expect([zone({}), zone({ zone: 'pacific' }), zone({ by: 'fiscal_month' })]).toEqual([
    null,
    'pacific',
    'pacific',
  ])
  expect(metricQuery(scopeFrom({ by: 'fiscal_month' }), '2026-11-21')).toMatchObject({
    interval: 'fiscal_month',
    zone: 'pacific',
  })
})
