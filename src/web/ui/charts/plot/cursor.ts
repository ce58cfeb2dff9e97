/** The cursor of a chart: a vertical line that mouse, touch and arrow keys move. */
import type { Surface } from './surface.ts'

/** The line within this distance from the mouse, in pixels of the page, stands out from many. */
const FOCUS_DISTANCE = 24

export type Cursor = {
  /** Moves the cursor to a point, or hides it. */
  moveTo: (index: number | null) => void
  close: () => void
}

/** The series whose value at a point is nearest to the mouse; null if none is near. */
function nearestTo({ series, layout }: Surface, index: number, y: number): number | null {
  const { ratio, area, y: heightOf } = layout()
  const distances = series.map(({ values }) => {
    const value = values[index] ?? null
    return value === null ? Number.POSITIVE_INFINITY : Math.abs((heightOf(value) - area.top) / ratio - y)
  })
  const least = Math.min(...distances)
  return least <= FOCUS_DISTANCE ? distances.indexOf(least) : null
}

/**
 * Adds a cursor. A horizontal touch moves it; a vertical touch scrolls the page. `onCursor` is called with the index of
 * the point at the cursor, or null when mouse or finger have left the chart.
 *
 * @param count the number of points
 * @param canStandOut whether the line at the mouse stands out from the others
 */
export function addCursor(
  surface: Surface,
  count: number,
  canStandOut: boolean,
  onCursor: (index: number | null) => void,
): Cursor {
  const { over, layout, standOut } = surface
  const line = document.createElement('div')
  line.className = 'chart-cursor'
  line.hidden = true
  over.append(line)

  function place(left: number | null): void {
    line.hidden = left === null
    if (left !== null) line.style.left = `${Math.round(left)}px`
  }

  function moveTo(index: number | null): void {
    const { ratio, area, x } = layout()
    place(index === null ? null : (x(index) - area.left) / ratio)
  }

  function follow({ clientX, clientY, pointerType }: PointerEvent): void {
    const { left, top, width } = over.getBoundingClientRect()
    const x = Math.max(0, Math.min(width - 1, clientX - left))
    const index = Math.min(count - 1, Math.floor((x / width) * count))
    place(x)
    if (canStandOut && pointerType === 'mouse') standOut(nearestTo(surface, index, clientY - top))
    onCursor(index)
  }

  function leave(): void {
    place(null)
    standOut(null)
    onCursor(null)
  }

  const onLeave = ({ pointerType }: PointerEvent): void => {
    if (pointerType === 'mouse') leave()
  }
  const onPress = ({ pointerType, target }: PointerEvent): void => {
    if (pointerType !== 'mouse' && !over.contains(target as Node)) leave()
  }
  over.addEventListener('pointerdown', follow)
  over.addEventListener('pointermove', follow)
  over.addEventListener('pointerleave', onLeave)
  document.addEventListener('pointerdown', onPress)
  return { moveTo, close: () => document.removeEventListener('pointerdown', onPress) }
}
