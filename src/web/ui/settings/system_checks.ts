/** Orders and counts the results of the system checks. */
import type { InferOutput } from 'valibot'
import type { SystemAnswer } from '../../../api/owner/system.ts'

export type Check = NonNullable<InferOutput<typeof SystemAnswer>['result']>['checks'][number]

const WORST_FIRST = ['error', 'warning', 'ok', 'skipped'] as const

/** The results, the worst first. Results of the same status keep their order. */
export const sortChecks = (checks: readonly Check[]): Check[] =>
  [...checks].sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status))

/** The number of results of each status. */
export function countChecks(checks: readonly Check[]): Record<Check['status'], number> {
  const counts = { error: 0, warning: 0, ok: 0, skipped: 0 }
  for (const { status } of checks) counts[status] += 1
  return counts
}
