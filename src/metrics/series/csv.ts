/** Writes series and overviews as CSV (RFC 4180), with the same numbers as in JSON, of exactly the requested days. */
import { addDays } from '../../days.ts'
import { type CsvValue, csvLine, csvSlices, decimalText } from '../../http/csv.ts'
import type { OverviewAnswer } from './overview.ts'
import type { CompleteFigure, NotConverted, Series } from './points.ts'
import { type Reason, reasonsOn } from './reasons.ts'
import type { SeriesAnswer, SeriesRange } from './series.ts'
import type { Layout } from './series_request.ts'

type Money = { unit: string; ratio_of: string | null; currency: string | null }

const FIGURE_COLUMNS = ['amount', 'currency', 'count', 'ratio', 'numerator', 'denominator'] as const

/** The cells of a figure. Money is a decimal number in the currency of the row’s `currency` column. */
function figureCells({ ratio_of, currency }: Money, point: CompleteFigure): CsvValue[] {
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

const lastCells = (point: CompleteFigure): CsvValue[] => [
  point.complete,
  notConvertedText(point.not_converted),
]

/** The columns that a CSV has in addition whose lines are more than a day. */
const intervalColumns = ({ interval }: SeriesAnswer): string[] =>
  interval === 'day' ? [] : interval === 'fiscal_month' ? ['fiscal_month', 'until_on'] : ['until_on']

/** A line: a point, or the part of it that lies in the range. `cells`: those of `intervalColumns`. */
type Line = { point: CompleteFigure; on: string; cells: CsvValue[]; reasons: readonly Reason[] }

/** The lines of a series, of exactly the days of the range: their flows add up to the figure of the range. */
function linesOf({ interval }: SeriesAnswer, { range }: SeriesRange, { points, ...one }: Series): Line[] {
  return points.map((point, at) => {
    const clipped = one.range.clipped.find(({ of }) => of === point.on)
    const next = points[at + 1]
    const until_on = clipped?.until_on ?? (next ? addDays(next.on, -1) : range.until_on)
    const cells = interval === 'fiscal_month' ? [point.fiscal_month, until_on] : [until_on]
    return {
      point: clipped ?? point,
      on: clipped?.on ?? point.on,
      cells: interval === 'day' ? [] : cells,
      reasons: clipped?.reasons ?? reasonsOn(one.reasons, point.on),
    }
  })
}

/**
 * Writes an answer as CSV, in slices: the requested range, then the previous range if the answer has one. `others` is the
 * number of values that a series combines; above zero only in the series of a split’s remaining values.
 */
export function seriesCsv(answer: SeriesAnswer, layout: Layout = 'long'): AsyncGenerator<string, void> {
  const columns = layout === 'long' ? longColumns(answer) : wideColumns(answer)
  return csvSlices(csvLine(columns), seriesLines(answer, layout))
}

function* seriesLines(answer: SeriesAnswer, layout: Layout): Generator<string, void> {
  const write = layout === 'long' ? longLines : wideLines
  yield* write(answer, answer, 'asked')
  if (answer.previous) yield* write(answer, answer.previous, 'previous')
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
  ...intervalColumns(answer),
  'reasons',
]

function* longLines(answer: SeriesAnswer, shown: SeriesRange, rangeName: RangeName) {
  for (const one of shown.series)
    for (const { point, on, cells, reasons } of linesOf(answer, shown, one))
      yield csvLine([
        answer.metric,
        rangeName,
        on,
        answer.interval,
        answer.split,
        one.value,
        one.others,
        one.part,
        ...figureCells(answer, point),
        ...lastCells(point),
        answer.month_length,
        ...cells,
        reasons.join(' '),
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
  ...intervalColumns(answer),
  ...answer.series.map((one) => wideName(answer, one)),
  ...(answer.currency === null ? [] : ['currency']),
  'complete',
  'month_length',
  'reasons',
]

function* wideLines(answer: SeriesAnswer, shown: SeriesRange, rangeName: RangeName) {
  const linesByName = new Map(shown.series.map((one) => [wideName(answer, one), linesOf(answer, shown, one)]))
  const columns = answer.series.map((one) => linesByName.get(wideName(answer, one)) ?? [])
  for (const [index, { on, cells }] of (linesByName.values().next().value ?? []).entries()) {
    const lines = columns.map((column) => column[index])
    yield csvLine([
      ...(answer.previous ? [rangeName] : []),
      on,
      ...cells,
      ...lines.map((line) => figureCell(line?.point)),
      ...(answer.currency === null ? [] : [answer.currency]),
      lines.every((line) => line?.point.complete ?? true),
      answer.month_length,
      [...new Set(lines.flatMap((line) => line?.reasons ?? []))].join(' '),
    ])
  }
}

/** The figure of a point: an amount, a count or a ratio. */
function figureCell({ milli, count, ratio }: Partial<CompleteFigure> = {}): CsvValue {
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
