import { expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { isHidden } from '../../../src/web/ui/metrics/metric_query.ts'

const hiddenFrom = (state: 'owner' | 'guest', basis: 'gross' | 'proceeds' | null): string[] =>
  METRIC_NAMES.filter((name) => isHidden({ state, basis }, JSON.parse(JSON.stringify(DEFINITIONS[name]))))

test('hides gross-only metrics from guests with a link for proceeds, and from no one else', () => {
  expect(hiddenFrom('guest', 'proceeds')).toEqual([
    'mrr_movements',
    'quick_ratio',
    'mrr_churn_rate',
    'mrr_at_risk',
  ])
  expect([hiddenFrom('guest', 'gross'), hiddenFrom('owner', null)]).toEqual([[], []])
})
