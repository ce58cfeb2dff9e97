/** Groups missing report days by reason. */
import type { InferOutput } from 'valibot'
import type { ImportsAnswer } from '../../../api/imports.ts'

export type MissingDay = InferOutput<typeof ImportsAnswer>['organizations'][number]['holes'][number]
export type MissingDayGroup = {
  report: string
  state: MissingDay['state']
  reason: string | null
  days: string[]
  due_at: number | null
}

/** Groups by report, state and reason; newest day first. */
export function groupMissingDays(missing: readonly MissingDay[]): MissingDayGroup[] {
  const groups = new Map<string, MissingDayGroup>()
  for (const { report, state, reason, day_on, due_at } of missing) {
    const key = JSON.stringify([report, state, reason])
    const group = groups.get(key) ?? { report, state, reason, days: [], due_at: null }
    group.days.push(day_on)
    if (due_at !== null) group.due_at = Math.min(group.due_at ?? due_at, due_at)
    groups.set(key, group)
  }
  return [...groups.values()].map((group) => ({ ...group, days: group.days.sort().reverse() }))
}
