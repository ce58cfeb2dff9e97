/** The names of files with figures. */
import { addDays } from '../../days.ts'

type Named = { metric: string; split: string | null; range: { from_on: string; until_on: string } }

/** The name of a CSV file without its ending: metric, split, range and layout, as `revenue-by-country-2026-10`. */
export function seriesFileName({ metric, split, range }: Named, layout: 'long' | 'wide'): string {
  const parts = [
    metric,
    split && `by-${split}`,
    rangeName(range.from_on, range.until_on),
    layout === 'wide' && 'wide',
  ]
  return parts.filter(Boolean).join('-')
}

/** A month, a day, or the first and the last day. */
function rangeName(from_on: string, until_on: string): string {
  const isMonth = from_on.endsWith('-01') && addDays(until_on, 1) === monthAfter(from_on)
  if (isMonth) return from_on.slice(0, 7)
  return from_on === until_on ? from_on : `${from_on}-to-${until_on}`
}

const monthAfter = (on: string): string => `${addDays(`${on.slice(0, 7)}-28`, 4).slice(0, 7)}-01`
