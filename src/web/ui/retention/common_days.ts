/** The days on which every step of the funnel is known: only over these do its steps compare. */

import { totalsOf } from '../metrics/figures.ts'
import { figureOf, type MetricAnswer, type Series } from '../metrics/metric_answer.ts'

/** `first` and `last` are null where no day is known of every step; `left_out`: how many days between them are not. */
export type CommonDays = {
  answers: MetricAnswer[]
  first: string | null
  last: string | null
  left_out: number
}

/** Answers by day about the same range, each cut to the days on which all of them are known. */
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
