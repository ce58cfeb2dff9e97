/** Describes the outcome of a backfill, reconciliation or lookup for the job that ran it. */
import type { Environment } from '../../apple/payloads.ts'
import type { BackfillRow } from './backfills.ts'
import type { LookupCounts } from './lookup.ts'
import type { ReconcileCounts } from './reconciliation.ts'

/**
 * How a run ended. `failed`: `problem` has the reason. `stopped`: Windfall shuts down. `not_there`: Apple does not know
 * the app in this environment, such as in production before the app is first on sale.
 */
export type RunOutcome = {
  state: 'done' | 'failed' | 'stopped' | 'not_there'
  problem: string | null
  /** When to retry, in milliseconds since the epoch; null if Apple did not state a time. */
  retry_at: number | null
}
export type BackfillOutcome = RunOutcome & {
  bundle_id: string
  environment: Environment
  stage: BackfillRow['stage'] | null
}
/** The outcome of a reconciliation. `waiting`: the backfill has not read the notifications yet. */
export type ReconcileOutcome = Partial<ReconcileCounts> &
  Omit<RunOutcome, 'state'> & {
    bundle_id: string
    environment: Environment
    state: RunOutcome['state'] | 'waiting'
  }
/** The outcome of a lookup. `waiting` is the number of ids to look up later. */
export type LookupRunOutcome = RunOutcome & LookupCounts & { bundle_id: string; waiting: number }

type RunResult = Omit<RunOutcome, 'state'> & { bundle_id: string; environment?: string }

/**
 * Adds the problems of failed runs to the text `outcome`.
 *
 * @throws Error when every run failed. Its message lists all problems; its `retry_at` is when to retry, or null.
 */
function describeWithFaults(outcomes: readonly RunResult[], outcome: string): string {
  const failed = outcomes.filter(({ problem }) => problem !== null)
  if (failed.length === 0) return outcome
  const words = [...new Set(failed.map(describeProblem))].join('; ')
  if (failed.length < outcomes.length) return `${outcome}; but ${words}`
  const times = failed.map(({ retry_at }) => retry_at)
  const retry_at = times.reduce((a, b) => (a === null || b === null ? null : Math.min(a, b)))
  throw Object.assign(new Error(words), { retry_at })
}

const describeProblem = ({ bundle_id, environment, problem }: RunResult): string =>
  `${bundle_id}${environment ? ` (${environment})` : ''}: ${problem}`

/** The number of connected apps, and the bundle ids of those without a key. */
export type KeyCoverage = { connected: number; without_key: readonly string[] }

/**
 * Calls `run` and adds the apps without a key to its outcome. If no app has a key, `run` is not called, and the outcome
 * begins with `not asked`, which health recognizes.
 */
export async function describeRun(
  { connected, without_key }: KeyCoverage,
  run: () => Promise<string>,
): Promise<string> {
  if (connected === 0) return 'not asked: no app is connected (windfall connect)'
  if (without_key.length === connected) return `not asked: ${NO_KEY}`
  const outcome = await run()
  return without_key.length === 0 ? outcome : `${outcome}; skipped ${without_key.join(', ')}: ${NO_KEY}`
}

const NO_KEY = 'no In-App Purchase key (windfall connect)'

/** Describes a backfill. @throws Error when it failed for every app */
export function describeBackfill(outcomes: readonly BackfillOutcome[]): string {
  const done = new Set(outcomes.filter(({ stage }) => stage === 'done').map(({ bundle_id }) => bundle_id))
  const names = [...done].join(', ')
  return describeWithFaults(
    outcomes,
    done.size === 0 ? 'nothing is left to read' : `read all of Apple’s history of ${names}`,
  )
}

/** Describes a reconciliation. @throws Error when it failed for every app */
export function describeReconciliation(outcomes: readonly ReconcileOutcome[]): string {
  if (outcomes.length > 0 && outcomes.every(({ state }) => state === 'waiting'))
    return 'waiting for the backfill to read Apple’s history'
  const recovered = outcomes.reduce((sum, one) => sum + (one.recovered ?? 0), 0)
  const outcome = recovered === 0 ? 'nothing was missing' : `recovered ${recovered} missing notifications`
  return describeWithFaults(outcomes, outcome)
}

/** Describes a lookup. @throws Error when it failed for every app */
export function describeLookups(outcomes: readonly LookupRunOutcome[]): string {
  const sum = (count: (one: LookupRunOutcome) => number) =>
    outcomes.reduce((total, one) => total + count(one), 0)
  return describeWithFaults(
    outcomes,
    `looked up ${sum(({ requested }) => requested)} ids, found ${sum(({ found }) => found)}`,
  )
}
