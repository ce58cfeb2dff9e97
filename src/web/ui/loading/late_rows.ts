/** The rows of a long list that are rendered at first. The others wait until their place is near the viewport. */
import { useInView } from './use_in_view.ts'

/** More than a screen and the distance within which rows are added. */
const FIRST_ROWS = 20

/**
 * `shown` are the rows to render. While `waiting` is not zero, so many rows are missing, and `ref` belongs to an element
 * that is as high as they will be.
 */
export function useLateRows<Row>(rows: readonly Row[]): {
  shown: readonly Row[]
  waiting: number
  ref: (element: Element | null) => void
} {
  const { isInView, ref } = useInView()
  const shown = isInView ? rows : rows.slice(0, FIRST_ROWS)
  return { shown, waiting: rows.length - shown.length, ref }
}
