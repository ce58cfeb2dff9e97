/** Limits the funnel to the days for which every step has data, so that steps are comparable. */

import { totalsOf } from '../metrics/figures.ts'
import { figureOf, type MetricAnswer, type Series } from '../metrics/metric_answer.ts'

/** `first` and `last` are null if no day has all steps. `left_out` counts the days between them without all. */
export type CommonDays = {
  answers: MetricAnswer[]
  first: string | null
  last: string | null
  left_out: number
}

/** Cuts daily responses of the same range to the days that all of them have. */
export function commonDays(answers: readonly MetricAnswer[]): CommonDays {
  const known = answers.map(
    (answer) =>
      new Set(
        totalsOf(answer)[0]
          ?.points.filter((point) => figureOf(point, answer.unit) !== null)
          .map(({ on }) => on),
      ),
  )
  const all = totalsOf(answers[0] ?? { series: [] })[0]?.points.map(({ on }) => on) ?? []
  const shared = new Set(all.filter((on) => known.every((days) => days.has(on))))
  const [first = null, last = null] = [[...shared][0], [...shared].at(-1)]
  const between = all.filter((on) => first !== null && last !== null && on >= first && on <= last)
  const cut = (one: Series): Series => ({ ...one, points: one.points.filter(({ on }) => shared.has(on)) })
  return {
    answers: answers.map((answer) => ({ ...answer, series: answer.series.map(cut) })),
    first,
    last,
    left_out: between.length - shared.size,
  }
}
