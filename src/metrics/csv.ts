/** What we compute: series as comma-separated values (RFC 4180), with the numbers that their JSON has. */
import { type CsvValue, csvLine, csvSlices, decimalText } from '../http/csv.ts'
import type { OverviewAnswer } from './overview.ts'
import type { NotConverted, Point } from './points.ts'
import type { SeriesAnswer, Stretch } from './series.ts'

type Money = { unit: string; ratio_of: string | null; currency: string | null }

const FIGURES = ['amount', 'currency', 'count', 'ratio', 'numerator', 'denominator'] as const

/** Amounts as decimal numbers in the currency beside them, whatever is no money as it is. */
function figureCells({ ratio_of, currency }: Money, point: Point): CsvValue[] {
  const { milli, count, ratio, numerator, denominator } = point
  const part = (value: number | null | undefined): CsvValue =>
    typeof value === 'number' && ratio_of === 'money' ? decimalText(value) : value
  const amount = typeof milli === 'number' ? decimalText(milli) : milli
  const isMoney = milli !== undefined || ratio_of === 'money'
  return [amount, isMoney ? currency : null, count, ratio, part(numerator), part(denominator)]
}

/** `EUR 12.000; GBP 3.500`; of a ratio `EUR 1.000 of 12.000`. */
const leftOutText = (some: readonly NotConverted[] = []): string =>
  some
    .map(({ currency, milli, numerator = 0, denominator }) => {
      if (milli !== undefined) return `${currency} ${decimalText(milli)}`
      return `${currency} ${decimalText(numerator)}${denominator === undefined ? '' : ` of ${decimalText(denominator)}`}`
    })
    .join('; ')

const lastCells = (point: Point): CsvValue[] => [point.complete, leftOutText(point.not_converted)]

const SERIES_COLUMNS = [
  ...['metric', 'range', 'on', 'interval', 'split', 'value', 'others', 'part', ...FIGURES],
  ...['complete', 'not_converted'],
]

/** One line a point, in slices. `others` is above zero where the values of a split are told as one. */
export const seriesCsv = (answer: SeriesAnswer): AsyncGenerator<string, void> =>
  csvSlices(csvLine(SERIES_COLUMNS), seriesLines(answer))

function* seriesLines(answer: SeriesAnswer): Generator<string, void> {
  yield* stretchLines(answer, answer, 'asked')
  if (answer.previous) yield* stretchLines(answer, answer.previous, 'previous')
}

function* stretchLines(answer: SeriesAnswer, { series }: Stretch, when: 'asked' | 'previous') {
  for (const { value, others, part, points } of series)
    for (const point of points)
      yield csvLine([
        ...[answer.metric, when, point.on, answer.interval, answer.split, value, others, part],
        ...figureCells(answer, point),
        ...lastCells(point),
      ])
}

/** One line a figure, and one for what it was before, in slices. */
export function overviewCsv({ organizations }: OverviewAnswer): AsyncGenerator<string, void> {
  const rows = organizations.flatMap((one) =>
    one.figures.flatMap(({ metric, part, now, previous, ...unit }) =>
      ([now, previous] as const).map((point, index) => [
        ...[one.organization_id, metric, part, index === 0 ? 'now' : 'previous', point.on],
        ...figureCells(unit, point),
        ...lastCells(point),
      ]),
    ),
  )
  const columns = [
    'organization_id',
    'metric',
    'part',
    'range',
    'on',
    ...FIGURES,
    'complete',
    'not_converted',
  ]
  return csvSlices(csvLine(columns), rows.map(csvLine))
}
