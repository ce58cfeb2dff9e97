import { expect, test } from 'vitest'
import { cardParams, unusedParams } from '../../../../src/web/ui/frame/unused_params.ts'
import { scopeFrom } from '../../../../src/web/ui/scope.ts'

const view = { kind: ['sales', 'trials'], ...cardParams(['mrr'], { as: ['table'] }) }

test('a view uses the scope, its own parameters and those of its cards', () => {
  const address = {
    app: 'app_1',
    range: 'custom',
    from: '2026-02-01',
    to: '2026-02-28',
    by: 'week',
    basis: 'proceeds',
    kind: 'sales',
    'mrr.as': 'table',
  }
  expect(unusedParams(address, view)).toEqual([])
})

test('an empty parameter asks for nothing', () => {
  expect(unusedParams({ range: '', foo: '' }, view)).toEqual([])
})

test('the API’s names of parameters are used', () => {
  expect(unusedParams({ interval: 'month', environment: 'sandbox' }, view)).toEqual([])
  expect(unusedParams({ interval: 'hour' }, view)).toEqual([{ name: 'interval', value: 'hour' }])
})

test('parameters that a view does not have are unused', () => {
  const address = { foo: '1', 'arr.as': 'table', constructor: '1' }
  expect(unusedParams(address, view)).toEqual(Object.keys(address).map((name) => ({ name, value: null })))
})

test.for([
  ['range', 'ever'],
  ['range', 'custom'],
  ['by', 'hour'],
  ['basis', 'net'],
  ['env', 'xcode'],
  ['zone', 'mars'],
  ['compare', 'yes'],
  ['from', '2026-02-31'],
  ['to', 'today'],
  ['kind', 'jokes'],
  ['mrr.as', 'poem'],
] as const)('%s cannot be %s', ([name, value]) => {
  expect(unusedParams({ [name]: value }, view)).toEqual([{ name, value }])
})

test('days are used without a range, and not beside another range', () => {
  const days = { from: '2026-02-01', to: '2026-02-28' }
  expect(unusedParams(days, view)).toEqual([])
  expect(scopeFrom(days)).toMatchObject({ range: 'custom', ...days })
  expect(unusedParams({ range: '7d', ...days }, view).map(({ name }) => name)).toEqual(['from', 'to'])
})
