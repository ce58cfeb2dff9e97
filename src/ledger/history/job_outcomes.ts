/** What we compute: what a run over Apple's histories asked and found, in the words of a job's outcome. */
import type { Environment } from '../../apple/payloads.ts'
import type { BackfillRow } from './backfills.ts'
import type { LookupCounts } from './lookup.ts'
import type { ReconcileCounts } from './reconciliation.ts'

/**
 * How a run ended: `done`; `failed`, and why, in words; `stopped`, because the program ends; or `not_there`: Apple knows
 * no such app in this environment, as in production before it was ever on sale.
 */
export type RunOutcome = {
  state: 'done' | 'failed' | 'stopped' | 'not_there'
  problem: string | null
  /** When Apple may be asked again, in milliseconds; null where it did not say. */
  retry_at: number | null
}
export type BackfillOutcome = RunOutcome & {
  bundle_id: string
  environment: Environment
  stage: BackfillRow['stage'] | null
}
/** `waiting`: not before the backfill has read the notifications. */
export type ReconcileOutcome = Partial<ReconcileCounts> &
  Omit<RunOutcome, 'state'> & {
    bundle_id: string
    environment: Environment
    state: RunOutcome['state'] | 'waiting'
  }
/** `waiting`: how many are still to be asked for, some other time. */
export type LookupRunOutcome = RunOutcome & LookupCounts & { bundle_id: string; waiting: number }

type RunResult = Omit<RunOutcome, 'state'> & { bundle_id: string; environment?: string }

/**
 * The outcome in words, with what failed of it.
 *
 * @throws Error when nothing came to its end, that tells every fault; its `retry_at` is when to try again, or null.
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

/** For how many connected apps Apple's server could be asked, and for which it cannot. */
export type KeyCoverage = { connected: number; without_key: readonly string[] }

/** What asking came to, with whom it could not be for. Where that is all, nothing was asked, and so nothing is well. */
export async function describeRun(
  { connected, without_key }: KeyCoverage,
  run: () => Promise<string>,
): Promise<string> {
  if (connected === 0) return 'not asked: no app is connected (windfall connect)'
  if (without_key.length === connected) return `not asked: ${NO_KEY}`
  const outcome = await run()
  return without_key.length === 0 ? outcome : `${outcome}; not asked for ${without_key.join(', ')}: ${NO_KEY}`
}

const NO_KEY = 'no In-App Purchase key (windfall connect)'

/** What a first reading came to. @throws Error when all of it failed */
export function describeBackfill(outcomes: readonly BackfillOutcome[]): string {
  const done = new Set(outcomes.filter(({ stage }) => stage === 'done').map(({ bundle_id }) => bundle_id))
  const names = [...done].join(', ')
  return describeWithFaults(
    outcomes,
    done.size === 0 ? 'nothing is left to read' : `read all that Apple shows of ${names}`,
  )
}

/** What a comparison came to. @throws Error when all of it failed */
export function describeReconciliation(outcomes: readonly ReconcileOutcome[]): string {
  if (outcomes.length > 0 && outcomes.every(({ state }) => state === 'waiting'))
    return 'waits until Apple’s history has been read for the first time'
  const recovered = outcomes.reduce((sum, one) => sum + (one.recovered ?? 0), 0)
  const outcome =
    recovered === 0 ? 'nothing was missing' : `${recovered} notifications had not arrived and are recovered`
  return describeWithFaults(outcomes, outcome)
}

/** What looking up came to. @throws Error when all of it failed */
export function describeLookups(outcomes: readonly LookupRunOutcome[]): string {
  const sum = (count: (one: LookupRunOutcome) => number) =>
    outcomes.reduce((total, one) => total + count(one), 0)
  return describeWithFaults(
    outcomes,
    `${sum(({ requested }) => requested)} ids were asked for, ${sum(({ found }) => found)} found`,
  )
}
