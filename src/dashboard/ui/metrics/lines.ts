/** What is drawn of a metric's answer: which series, as lines or bars, in which colours. */
import type { App } from '../apps.ts'
import { type Hue, hueOf } from '../charts/colours.ts'
import type { Line } from '../charts/time_chart.tsx'
import { figureOf, type MetricAnswer, partTitle, type Series, valueName } from './answer.ts'
import type { Definition } from './definitions.ts'

export type Drawn = {
  lines: Line[]
  isStacked: boolean
  complete: boolean[]
}

/** Parts that say what is missing are told in words, not drawn. */
const ASIDE = new Set(['unpriced', 'returned'])
const MOODS: Record<string, Hue> = {
  refunds: 'bad',
  churn_voluntary: 'bad',
  churn_billing: 2,
  churn_refund: 4,
  contraction: 7,
  lost: 'bad',
  converted: 'good',
}

/** The parts that make up the whole, where they are to be seen. */
export const partsOf = (answer: MetricAnswer): Series[] =>
  answer.series.filter(({ part, value }) => part !== null && value === null && !ASIDE.has(part))
export const wholesOf = (answer: MetricAnswer): Series[] => answer.series.filter(({ part }) => part === null)

export type Style = 'line' | 'bar'

/** @param isInParts show the metric's parts on one another instead of the whole */
export function drawn(
  answer: MetricAnswer,
  definition: Definition | undefined,
  apps: readonly App[],
  { style, isInParts }: { style: Style; isInParts: boolean },
): Drawn {
  const { unit } = answer
  const valuesOf = (series: Series): (number | null)[] => series.points.map((point) => figureOf(point, unit))
  const parts = isInParts && answer.split === null ? partsOf(answer) : []
  const shown = parts.length > 0 ? parts : wholesOf(answer)
  const own = shown.map((series, index): Line => {
    const isPart = parts.length > 0
    return {
      key: `${series.part ?? ''} ${series.value ?? ''} ${series.others}`,
      title:
        isPart || answer.split === null
          ? partTitle(definition, series.part)
          : valueName(answer.split, series.value, series.others, apps),
      hue: (isPart && series.part ? MOODS[series.part] : undefined) ?? hueOf(index),
      style,
      values: valuesOf(series),
    }
  })
  const before = answer.split === null ? answer.previous?.series.find(({ part }) => part === null) : undefined
  const compared: Line[] = before
    ? [
        {
          key: 'before',
          title: 'The time before',
          hue: 8,
          style: 'line',
          values: valuesOf(before),
          isBefore: true,
        },
      ]
    : []
  const points = shown[0]?.points ?? []
  return {
    lines: [...own, ...compared],
    isStacked: own.length > 1 && unit !== 'ratio',
    complete: points.map(({ complete }) => complete),
  }
}

/** The headline: of a level what stands now, of a flow all of the days shown, of a ratio the last that is complete. */
export function headline(answer: MetricAnswer): { value: number | null; under: string } {
  const points = wholesOf(answer).flatMap(({ points }) => (answer.split === null ? [points] : []))[0] ?? []
  if (answer.unit === 'ratio') {
    const last =
      points.findLast(({ complete, ratio }) => complete && ratio !== null && ratio !== undefined) ??
      points.at(-1)
    return { value: figureOf(last, 'ratio'), under: last?.on ?? '' }
  }
  if (answer.kind === 'level') return { value: figureOf(points.at(-1), answer.unit), under: '' }
  return { value: sumOf(points.map((point) => figureOf(point, answer.unit))), under: '' }
}

/** Unknown ones are left out; nothing known is not zero. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
