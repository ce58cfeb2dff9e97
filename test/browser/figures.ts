/** Formats API figures as the page should, in American English, independently of the page's code. */

type Figures = {
  metric: string
  unit: 'money' | 'count' | 'ratio'
  currency: string | null
  kind: 'level' | 'flow'
}
type Point = { milli?: number | null; count?: number | null; ratio?: number | null }

const HUNDRED_THOUSAND_MILLI = 100_000_000

function money(milli: number, currency: string): string {
  const digits = Math.abs(milli) >= HUNDRED_THOUSAND_MILLI ? { maximumFractionDigits: 0 } : {}
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, ...digits }).format(milli / 1000)
}

/** The text of one figure; a dash if unknown. */
export function textOf({ metric, unit, currency }: Figures, value: number | null): string {
  if (value === null) return '–'
  if (unit === 'money') return money(value, currency ?? 'USD')
  if (unit === 'count') return new Intl.NumberFormat('en-US').format(value)
  if (metric === 'quick_ratio')
    return new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }).format(value)
  return new Intl.NumberFormat('en-US', {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(value)
}

export function figureOf({ unit }: Figures, point: Point): number | null {
  if (unit === 'money') return point.milli ?? null
  return (unit === 'count' ? point.count : point.ratio) ?? null
}

/** The figure above the chart; not for ratios. */
export function headlineOf(figures: Figures, points: readonly Point[]): string {
  const values = points.map((point) => figureOf(figures, point))
  if (figures.kind === 'level') return textOf(figures, values.at(-1) ?? null)
  const known = values.filter((value) => value !== null)
  return textOf(figures, known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0))
}
