/** Builders of metric responses. */
import type { Figures, MetricAnswer, Point, Series } from '../../../src/web/ui/metrics/metric_answer.ts'
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

/** The sums of a field; nothing where no point has it. */
function summed(points: readonly Point[], field: 'milli' | 'count' | 'numerator' | 'denominator'): Figures {
  const known = points.flatMap((one) => one[field] ?? [])
  if (points.every((one) => one[field] === undefined)) return {}
  return { [field]: known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) }
}

/** The ratio of the sums; nothing where no point is a ratio. */
function ratioIn(points: readonly Point[]): Figures {
  const sums = { ...summed(points, 'numerator'), ...summed(points, 'denominator') }
  if (sums.denominator === undefined) return {}
  return { ...sums, ratio: sums.denominator ? (sums.numerator ?? 0) / sums.denominator : null }
}

/** A series of a flow. */
export const seriesOf = (points: Point[], own: Partial<Series> = {}): Series => ({
  range: { ...summed(points, 'milli'), ...summed(points, 'count'), ...ratioIn(points) },
  value: null,
  others: 0,
  part: null,
  reasons: [],
  points,
  ...own,
})

/** The figure of a level is its last point. */
const asLevel = (one: Series): Series => ({ ...one, range: one.points.at(-1) ?? {} })

export function answerOf(own: Partial<MetricAnswer>): MetricAnswer {
  const answer = { ...DEFAULTS, ...own }
  if (answer.kind !== 'level') return answer
  const { series, previous } = answer
  return {
    ...answer,
    series: series.map(asLevel),
    previous: previous && { ...previous, series: previous.series.map(asLevel) },
  }
}

const DEFAULTS: MetricAnswer = {
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
}
