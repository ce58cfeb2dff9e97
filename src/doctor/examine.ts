/** Runs all checks, one after another. The server and the command share it. */
import { damagedFinding } from '../health/disk_findings.ts'
import { damageIn } from '../store/disk/disk_faults.ts'
import { reachApple } from './apple/reach.ts'
import { CHECKS, type Check } from './checks.ts'
import type { DoctorContext } from './context.ts'
import { type CheckResult, error, type Outcome, outcomeOf, resultOf } from './result.ts'

/** How many checks are done. `title` names the check that runs. */
export type CheckProgress = { done: number; of: number; title: string }

type ExamineOptions = { onProgress?: (progress: CheckProgress) => void; signal?: AbortSignal }

/**
 * Runs all checks and yields each result as soon as it is known. It changes nothing but a temporary file beside the
 * database. A check that throws yields an error. An abort of `signal` ends the examination between two checks.
 */
export async function* examine(
  context: Omit<DoctorContext, 'appleReach'>,
  { onProgress, signal }: ExamineOptions = {},
): AsyncGenerator<CheckResult> {
  let reach: ReturnType<typeof reachApple> | null = null
  const appleReach = () => {
    reach ??= reachApple(context.hosts, context.clock)
    return reach
  }
  const ids = new Map<string, number>()
  for (const [done, check] of CHECKS.entries()) {
    if (signal?.aborted) return
    onProgress?.({ done, of: CHECKS.length, title: check.title })
    for (const outcome of await outcomesOf(check, { ...context, appleReach }))
      yield withUniqueId(resultOf(check, outcome), ids)
  }
}

/** The result with a number after its id, if an earlier result has the same id. */
function withUniqueId(result: CheckResult, ids: Map<string, number>): CheckResult {
  const count = (ids.get(result.id) ?? 0) + 1
  ids.set(result.id, count)
  return count === 1 ? result : { ...result, id: `${result.id}:${count}` }
}

async function outcomesOf({ run }: Check, context: DoctorContext): Promise<readonly Outcome[]> {
  try {
    return [await run(context)].flat()
  } catch (failure) {
    const code = damageIn(failure)
    if (code !== null) return [outcomeOf(damagedFinding(code), { title: 'Database', subject: 'damaged' })]
    const words = failure instanceof Error ? failure.message : String(failure)
    return [
      error(`The check failed: ${words}`, 'Run it again. If it fails again, please report this as a bug.'),
    ]
  }
}
