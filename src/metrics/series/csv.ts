/** Writes series and overviews as CSV (RFC 4180), with the same numbers as in JSON. */
import { type CsvValue, csvLine, csvSlices, decimalText } from '../../http/csv.ts'
import type { OverviewAnswer } from './overview.ts'
import type { NotConverted, Point, Series } from './points.ts'
import { reasonsOn } from './reasons.ts'
import type { SeriesAnswer, SeriesRange } from './series.ts'
import type { Layout } from './series_request.ts'

type Money = { unit: string; ratio_of: string | null; currency: string | null }

const FIGURE_COLUMNS = ['amount', 'currency', 'count', 'ratio', 'numerator', 'denominator'] as const

/** The cells of a figure. Money is a decimal number in the currency of the row’s `currency` column. */
function figureCells({ ratio_of, currency }: Money, point: Point): CsvValue[] {
  const { milli, count, ratio, numerator, denominator } = point
  const amountText = (value: number | null | undefined): CsvValue =>
    typeof value === 'number' && ratio_of === 'money' ? decimalText(value) : value
  const amount = typeof milli === 'number' ? decimalText(milli) : milli
  const isMoney = milli !== undefined || ratio_of === 'money'
  return [amount, isMoney ? currency : null, count, ratio, amountText(numerator), amountText(denominator)]
}

/** Formats unconverted amounts as `EUR 12.000; GBP 3.500`, and for a ratio as `EUR 1.000 of 12.000`. */
export const notConvertedText = (some: readonly NotConverted[] = []): string =>
  some
    .map(({ currency, milli, numerator = 0, denominator }) => {
      if (milli !== undefined) return `${currency} ${decimalText(milli)}`
      return `${currency} ${decimalText(numerator)}${denominator === undefined ? '' : ` of ${decimalText(denominator)}`}`
    })
    .join('; ')

const lastCells = (point: Point): CsvValue[] => [point.complete, notConvertedText(point.not_converted)]

/** The columns that a CSV of fiscal months has in addition. */
const FISCAL_COLUMNS = ['fiscal_month', 'until_on']
const fiscalCells = ({ fiscal_month, until_on }: Point): CsvValue[] => [fiscal_month, until_on]
const isFiscal = ({ interval }: SeriesAnswer): boolean => interval === 'fiscal_month'

/**
 * Writes an answer as CSV, in slices: the requested range, then the previous range if the answer has one. `others` is the
 * number of values that a series combines; above zero only in the series of a split’s remaining values.
 */
export function seriesCsv(answer: SeriesAnswer, layout: Layout = 'long'): AsyncGenerator<string, void> {
  const columns = layout === 'long' ? longColumns(answer) : wideColumns(answer)
  return csvSlices(csvLine(columns), seriesLines(answer, layout))
}

function* seriesLines(answer: SeriesAnswer, layout: Layout): Generator<string, void> {
  const linesOf = layout === 'long' ? longLines : wideLines
  yield* linesOf(answer, answer, 'asked')
  if (answer.previous) yield* linesOf(answer, answer.previous, 'previous')
}

type RangeName = 'asked' | 'previous'

const longColumns = (answer: SeriesAnswer): string[] => [
  'metric',
  'range',
  'on',
  'interval',
  'split',
  'value',
  'others',
  'part',
  ...FIGURE_COLUMNS,
  'complete',
  'not_converted',
  'month_length',
  ...(isFiscal(answer) ? FISCAL_COLUMNS : []),
  'reasons',
]

function* longLines(answer: SeriesAnswer, { series }: SeriesRange, rangeName: RangeName) {
  for (const { value, others, part, points, reasons } of series)
    for (const point of points)
      yield csvLine([
        answer.metric,
        rangeName,
        point.on,
        answer.interval,
        answer.split,
        value,
        others,
        part,
        ...figureCells(answer, point),
        ...lastCells(point),
        answer.month_length,
        ...(isFiscal(answer) ? fiscalCells(point) : []),
        reasonsOn(reasons, point.on).join(' '),
      ])
}

/** The name of a series’ column: without a split the part or metric, otherwise the value and the part. */
function wideName({ metric, split }: SeriesAnswer, { value, others, part }: Series): string {
  const name = others > 0 ? 'others' : value === '' ? 'unknown' : value
  return split === null ? (part ?? metric) : [name, part].filter((word) => word !== null).join(' ')
}

/** The column names. If the answer has two ranges, the first column names the range. */
const wideColumns = (answer: SeriesAnswer): string[] => [
  ...(answer.previous ? ['range'] : []),
  'on',
  ...(isFiscal(answer) ? FISCAL_COLUMNS : []),
  ...answer.series.map((one) => wideName(answer, one)),
  ...(answer.currency === null ? [] : ['currency']),
  'complete',
  'month_length',
  'reasons',
]

function* wideLines(answer: SeriesAnswer, { series }: SeriesRange, rangeName: RangeName) {
  const seriesByName = new Map(series.map((one) => [wideName(answer, one), one]))
  const columns = answer.series.flatMap((one) => seriesByName.get(wideName(answer, one)) ?? [])
  const columnPoints = answer.series.map((one) => seriesByName.get(wideName(answer, one))?.points ?? [])
  for (const [index, point] of (series[0]?.points ?? []).entries())
    yield csvLine([
      ...(answer.previous ? [rangeName] : []),
      point.on,
      ...(isFiscal(answer) ? fiscalCells(point) : []),
      ...columnPoints.map((points) => figureCell(points[index])),
      ...(answer.currency === null ? [] : [answer.currency]),
      columnPoints.every((points) => points[index]?.complete ?? true),
      answer.month_length,
      [...new Set(columns.flatMap(({ reasons }) => reasonsOn(reasons, point.on)))].join(' '),
    ])
}

/** The figure of a point: an amount, a count or a ratio. */
function figureCell({ milli, count, ratio }: Partial<Point> = {}): CsvValue {
  if (typeof milli === 'number') return decimalText(milli)
  return milli === null ? null : (ratio ?? count)
}

/** Writes overviews as CSV, in slices, with two lines for each figure: now and previous. */
export function overviewCsv({ organizations }: OverviewAnswer): AsyncGenerator<string, void> {
  const rows = organizations.flatMap((one) =>
    one.figures.flatMap(({ metric, part, now, previous, ...unit }) =>
      ([now, previous] as const).map((point, index) => [
        one.organization_id,
        metric,
        part,
        index === 0 ? 'now' : 'previous',
        point.on,
        ...figureCells(unit, point),
        ...lastCells(point),
        one.month_length,
      ]),
    ),
  )
  const columns = [
    'organization_id',
    'metric',
    'part',
    'range',
    'on',
    ...FIGURE_COLUMNS,
    'complete',
    'not_converted',
    'month_length',
  ]
  return csvSlices(csvLine(columns), rows.map(csvLine))
}
