/** The start of a vertical axis that does not begin at zero. */

/** A round value at or below `value`, whose distance to it is small against `range`, the extent of the values. */
export function roundStart(value: number, range: number): number {
  const most = range / 4
  const power = 10 ** Math.floor(Math.log10(most))
  const step = most >= 5 * power ? 5 * power : most >= 2 * power ? 2 * power : power
  return Math.floor(value / step) * step
}

type Formats = { format: (value: number) => string; formatShort: (value: number, step: number) => string }

/** The note that an axis starts at a value; short if two digits say it exactly. */
export function axisStartText(start: number, { format, formatShort }: Formats): string {
  const digit = 10 ** (Math.floor(Math.log10(start)) - 1)
  return `The axis starts at ${start % digit === 0 ? formatShort(start, digit) : format(start)}, not at zero.`
}
