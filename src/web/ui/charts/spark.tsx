/** A sparkline: a line without axes. */
import type { JSX } from 'preact'
import { type Hue, hueClass } from './colours.ts'

const WIDTH = 100
const HEIGHT = 40

/** `values` are evenly spaced; null is a gap. */
export function Spark({
  values,
  label,
  hue = 1,
}: {
  values: (number | null)[]
  label: string
  hue?: Hue
}): JSX.Element {
  const known = values.filter((value) => value !== null)
  const least = Math.min(...known)
  const most = Math.max(...known)
  const x = (index: number): number => (values.length < 2 ? WIDTH : (index / (values.length - 1)) * WIDTH)
  const y = (value: number): number =>
    most === least ? HEIGHT / 2 : HEIGHT - 3 - ((value - least) / (most - least)) * (HEIGHT - 6)
  let path = ''
  let isDrawing = false
  for (const [index, value] of values.entries()) {
    if (value !== null) path += `${isDrawing ? 'L' : 'M'}${x(index).toFixed(2)} ${y(value).toFixed(2)}`
    isDrawing = value !== null
  }
  const hasNoGaps = known.length === values.length && known.length > 1
  return (
    <svg
      class={`spark ${hueClass(hue)}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {hasNoGaps && <path class="area" d={`${path}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />}
      <path d={path} />
    </svg>
  )
}
