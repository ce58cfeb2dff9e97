import { expect, test } from 'vitest'
import {
  type Compared,
  comparisonText,
  noGapsMessage,
} from '../../../src/web/ui/events/coverage/comparisons.ts'

const AT = Date.UTC(2026, 10, 20, 9)

const app = (comparison: Partial<Compared['comparison']> | null, has_key = true): Compared => ({
  app_id: 'app_1',
  environment: 'production',
  has_key,
  comparison: comparison && {
    compared_until_at: AT,
    checked_at: AT,
    problem: null,
    problem_at: null,
    ...comparison,
  },
})

test('reports no gaps as complete only after a comparison', () => {
  expect(noGapsMessage([])).toMatchObject({ title: 'Not compared yet', isSure: false })
  expect(noGapsMessage([app(null)])).toMatchObject({ title: 'Not compared yet', isSure: false })
  // The backfill is running; the first comparison has not finished.
  expect(noGapsMessage([app({ checked_at: null })])).toMatchObject({
    title: 'Not compared yet',
    isSure: false,
  })
  const done = noGapsMessage([app({}), app({ compared_until_at: AT - 86_400_000 })])
  expect(done).toMatchObject({ title: 'Nothing is missing', isSure: true })
  expect(done.text).toContain('Nov 19, 2026')
  const some = noGapsMessage([app({}), app(null, false)])
  expect(some).toMatchObject({ title: 'Nothing is missing so far', isSure: false })
  expect(some.text).toContain('1 app not compared yet.')
})

test('reports an app as complete up to its last comparison', () => {
  expect(comparisonText(app({ checked_at: null }))).toEqual({ text: 'not yet', isBad: false })
  expect(comparisonText(app({})).text).toMatch(/^complete until Nov 20, 2026/)
  expect(comparisonText(app(null, false)).text).toContain('In-App Purchase key')
  expect(comparisonText(app({ problem: 'Apple answered 500', problem_at: AT }))).toMatchObject({
    isBad: true,
    text: expect.stringContaining('Apple answered 500'),
  })
})
