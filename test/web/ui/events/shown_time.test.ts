import { expect, test } from 'vitest'
import { shownAt } from '../../../../src/web/ui/events/shown_time.ts'

const MINUTE = 60_000

test('shows live events at their arrival, which is the order of the feed', () => {
  // The later event of the feed occurred earlier.
  const rows = [
    { occurred_at: 8 * MINUTE, recorded_at: 10 * MINUTE },
    { occurred_at: 9.5 * MINUTE, recorded_at: 9.6 * MINUTE },
  ]
  const shown = rows.map(shownAt)
  expect(shown).toEqual([10 * MINUTE, 9.6 * MINUTE])
  expect(shown).toEqual(shown.toSorted((a, b) => b - a))
})

test('shows the arrival of a renewal that takes effect later, and the time of one that was recovered', () => {
  expect(shownAt({ occurred_at: 600 * MINUTE, recorded_at: 10 * MINUTE })).toBe(10 * MINUTE)
  expect(shownAt({ occurred_at: 10 * MINUTE, recorded_at: 600 * MINUTE })).toBe(10 * MINUTE)
})
