import { expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { isHidden } from '../../../src/web/ui/metrics/metric_query.ts'

const hiddenFrom = (state: 'owner' | 'guest', basis: 'gross' | 'proceeds' | null): string[] =>
  METRIC_NAMES.filter((name) => isHidden({ state, basis }, JSON.parse(JSON.stringify(DEFINITIONS[name]))))

test('a link for proceeds shows no card of what is known as gross alone; everybody else sees all', () => {
  expect(hiddenFrom('guest', 'proceeds')).toEqual([
    'mrr_movements',
    'quick_ratio',
    'mrr_churn_rate',
    'mrr_at_risk',
  ])
  expect([hiddenFrom('guest', 'gross'), hiddenFrom('owner', null)]).toEqual([[], []])
})
