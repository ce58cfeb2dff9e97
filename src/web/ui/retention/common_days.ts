/** Limits the funnel to the days for which every step has data, so that steps are comparable. */

import { sumOf, totalsOf } from '../metrics/figures.ts'
import { figureOf, type MetricAnswer, type Series } from '../metrics/metric_answer.ts'

/**
 * `first` and `last` are null if no day has all steps. `excludedDays` counts the days between them that lack a step.
 */
export type CommonDays = {
  answers: MetricAnswer[]
  first: string | null
  last: string | null
  excludedDays: number
}

/** Reduces daily answers of one range to the days for which every answer has data. */
export function commonDays(answers: readonly MetricAnswer[]): CommonDays {
  const knownDaysByAnswer = answers.map(
    (answer) =>
      new Set(
        totalsOf(answer)[0]
          ?.points.filter((point) => figureOf(point, answer.unit) !== null)
          .map(({ on }) => on),
      ),
  )
  const all = totalsOf(answers[0] ?? { series: [] })[0]?.points.map(({ on }) => on) ?? []
  const commonDaySet = new Set(all.filter((on) => knownDaysByAnswer.every((days) => days.has(on))))
  const [first = null, last = null] = [[...commonDaySet][0], [...commonDaySet].at(-1)]
  const daysInRange = all.filter((on) => first !== null && last !== null && on >= first && on <= last)
  const cut = (one: Series): Series => {
    const points = one.points.filter(({ on }) => commonDaySet.has(on))
    return { ...one, range: { count: sumOf(points.map((point) => point.count ?? null)) }, points }
  }
  return {
    answers: answers.map((answer) => ({ ...answer, series: answer.series.map(cut) })),
    first,
    last,
    excludedDays: daysInRange.length - commonDaySet.size,
  }
}
