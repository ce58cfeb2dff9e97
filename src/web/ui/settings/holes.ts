/** What of the reports is not here: days with the same reason told together. */
import type { InferOutput } from 'valibot'
import type { ImportsAnswer } from '../../../api/imports.ts'

export type Hole = InferOutput<typeof ImportsAnswer>['organizations'][number]['holes'][number]
export type HoleGroup = {
  report: string
  state: Hole['state']
  reason: string | null
  days: string[]
  due_at: number | null
}

/** Holes of the same report, state and reason, the newest day of each first. */
export function holesBy(holes: readonly Hole[]): HoleGroup[] {
  const groups = new Map<string, HoleGroup>()
  for (const { report, state, reason, day_on, due_at } of holes) {
    const key = JSON.stringify([report, state, reason])
    const group = groups.get(key) ?? { report, state, reason, days: [], due_at: null }
    group.days.push(day_on)
    if (due_at !== null) group.due_at = Math.min(group.due_at ?? due_at, due_at)
    groups.set(key, group)
  }
  return [...groups.values()].map((group) => ({ ...group, days: group.days.sort().reverse() }))
}
