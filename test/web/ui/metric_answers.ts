/** Builders of metric responses. */
import type { MetricAnswer, Point, Series } from '../../../src/web/ui/metrics/metric_answer.ts'
import { plusDays } from '../../../src/web/ui/words.ts'

export const moneyPoints = (millis: number[], first = '2026-11-01'): Point[] =>
  millis.map((milli, index) => ({ on: plusDays(first, index), milli, complete: true }))

export const ratioPoints = (ratios: [number, number, boolean][], apart = 7): Point[] =>
  ratios.map(([numerator, denominator, complete], index) => ({
    on: plusDays('2026-11-02', index * apart),
    ratio: denominator === 0 ? null : numerator / denominator,
    numerator,
    denominator,
    complete,
  }))

export const seriesOf = (points: Point[], own: Partial<Series> = {}): Series => ({
  value: null,
  others: 0,
  part: null,
  reasons: [],
  points,
  ...own,
})

export const answerOf = (own: Partial<MetricAnswer>): MetricAnswer => ({
  behind: null,
  metric: 'revenue',
  unit: 'money',
  ratio_of: null,
  kind: 'flow',
  organization_id: 'org_1',
  apps: ['app_1'],
  environment: 'production',
  time_zone: 'UTC',
  today_on: '2026-11-21',
  interval: 'day',
  split: null,
  currency: 'USD',
  converted: null,
  basis: 'gross',
  month_length: 'calendar',
  view: null,
  refunds: null,
  sources: [],
  cutovers: [],
  proceeds_known: null,
  first_on: '2026-01-01',
  rebuilding: null,
  from_on: '2026-11-01',
  until_on: '2026-11-03',
  series: [],
  previous: null,
  ...own,
})
