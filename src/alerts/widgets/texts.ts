/** The texts of widgets: amounts, changes, and the flat JSON that programs read. */
import { amountText } from '../messages/wording.ts'
import type { WidgetFigure, WidgetFigures } from './figures.ts'

const NONE = '–'

/** A figure as text, such as `$1,234.56` or `1,234`. */
export function valueText({ value, is_money }: WidgetFigure, currency: string): string {
  if (value === null) return NONE
  return is_money ? amountText(value, currency) : value.toLocaleString('en-US')
}

/** A figure in a few characters, such as `$1.2K`. */
export function shortText({ value, is_money }: WidgetFigure, currency: string): string {
  if (value === null) return NONE
  const compact = { notation: 'compact', maximumFractionDigits: 1 } as const
  const number = is_money ? value / 1_000 : value
  if (!is_money) return number.toLocaleString('en-US', compact)
  try {
    return number.toLocaleString('en-US', {
      ...compact,
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    })
  } catch {
    return `${number.toLocaleString('en-US', compact)} ${currency}`
  }
}

/** The change as a ratio; null where there is nothing above zero to compare with: refunds can exceed revenue. */
export const changeOf = ({ value, before }: WidgetFigure): number | null =>
  value === null || before === null || before <= 0 ? null : value / before - 1

/** The change such as `+3.2%`; empty if there is none. */
export function changeText(figure: WidgetFigure): string {
  const change = changeOf(figure)
  if (change === null) return ''
  return change.toLocaleString('en-US', {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  })
}

const timeText = (at: number, timeZone: string): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone })

/**
 * The answer as flat JSON. Each figure has its value under its name, and under the name with an ending its title, text,
 * short text, change, text of the change and spark line. Amounts are in units of the currency.
 */
export function widgetJson(shown: WidgetFigures, url: string): Record<string, unknown> {
  const { name, currency, time_zone, updated_at, is_stale, figures } = shown
  return {
    name,
    currency,
    url,
    updated_at: new Date(updated_at).toISOString(),
    updated_at_text: timeText(updated_at, time_zone),
    stale: is_stale,
    metrics: figures.map((figure) => figure.name),
    ...Object.assign({}, ...figures.map((figure) => fieldsOf(figure, currency))),
  }
}

function fieldsOf(figure: WidgetFigure, currency: string): Record<string, unknown> {
  const { name, title, is_money, value, spark } = figure
  const unitsOf = (one: number | null): number | null => (one === null || !is_money ? one : one / 1_000)
  return {
    [name]: unitsOf(value),
    [`${name}_title`]: title,
    [`${name}_text`]: valueText(figure, currency),
    [`${name}_short`]: shortText(figure, currency),
    [`${name}_change`]: changeOf(figure),
    [`${name}_change_text`]: changeText(figure),
    [`${name}_spark`]: spark.map(unitsOf),
  }
}

/** One line for each figure; a single figure alone. */
export function widgetText({ figures, currency }: WidgetFigures): string {
  const [only, another] = figures
  if (only && !another) return `${valueText(only, currency)}\n`
  return figures
    .map((figure) => {
      const change = changeText(figure)
      return `${figure.title}: ${valueText(figure, currency)}${change === '' ? '' : ` (${change})`}\n`
    })
    .join('')
}
