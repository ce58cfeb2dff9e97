/** The bar of the day's revenue against a typical day. */

/** Percentages of the bar's width, and the mark with its label. */
type Course = { done: number; mark: number; label: 'now' | 'typical' }

/**
 * The bar of a day. Up to a typical day, the whole bar is that day, and the mark is the time. Beyond it, the whole bar
 * is the revenue, and the mark is the typical day.
 * @param reached the revenue as a share of a typical day
 * @param dayGone the share of the day that has passed
 */
export function courseOf(reached: number, dayGone: number): Course {
  if (reached > 1) return { done: 100, mark: 100 / reached, label: 'typical' }
  return { done: Math.max(0, reached) * 100, mark: dayGone * 100, label: 'now' }
}
