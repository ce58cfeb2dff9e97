/** Recognizes MRR milestones: 100, 250, 500, 1,000 and so on in units of the base currency, each once. */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { type Memory, ownerOf } from '../memory.ts'
import type { Fact, Reading } from './facts.ts'
import type { Rule } from './rules.ts'

/** Two evaluations at least this far apart must agree. */
const CONFIRM_MS = 3_600_000
const FIRST_MILLI = 100_000
const STEPS = [1, 2.5, 5] as const
const MAX_POWER = 9

/** All milestones in thousandths, the least first. */
const MILESTONES: readonly number[] = Array.from({ length: MAX_POWER }, (_, power) =>
  STEPS.map((step) => step * FIRST_MILLI * 10 ** power),
).flat()

/** The highest milestone that an amount reaches; 0 below the first. */
const reachedBy = (milli: number): number => MILESTONES.findLast((threshold) => threshold <= milli) ?? 0

/** What a rule remembers. `basis`: figures of another basis are not comparable. */
type Passed = { milli: number; basis: string }

type Deps = { store: Store; clock: Clock; memory: Memory }

export type Milestones = ReturnType<typeof openMilestones>

/** Opens the milestones. */
export function openMilestones({ store, clock, memory }: Deps) {
  const running = store.prepare<[string, string], object>(
    "select 1 from backfills where app_id = ? and environment = ? and stage <> 'done' and problem is null",
  )
  /** Whether the past of an app is being read from Apple. It is no milestone. */
  const isBackfilled = (app_id: string, { settings }: Rule): boolean =>
    running.get(app_id, settings.environment) !== undefined

  /** The milestone that MRR has passed, if it still has after an hour. Remembers what it saw. */
  async function factsOf(
    rule: Rule,
    { isCurrent, days, currency, basis, apps }: Reading,
  ): Promise<readonly Fact[]> {
    const milli = days.at(-1)?.milli ?? null
    if (!isCurrent || milli === null) return []
    const owner = ownerOf(rule)
    const reached = reachedBy(milli)
    const passed = memory.get(owner, 'passed')
    const known: Passed | null = passed && JSON.parse(passed.value)
    const remember = (key: string, value: Passed) => memory.set(owner, key, JSON.stringify(value), clock())
    if (known === null || known.basis !== basis || apps.some((app_id) => isBackfilled(app_id, rule))) {
      await store.commit(() => {
        remember('passed', { milli: reached, basis })
        memory.forget(owner, 'candidate')
      })
      return []
    }
    return store.commit(() => {
      const candidate = memory.get(owner, 'candidate')
      if (reached <= known.milli) {
        if (candidate) memory.forget(owner, 'candidate')
        return []
      }
      const seen: Passed | null = candidate && JSON.parse(candidate.value)
      // The candidate counts from when MRR first reached it. A lower one begins again, and one in the future.
      if (candidate === null || seen === null || seen.milli > reached || candidate.at > clock()) {
        remember('candidate', { milli: reached, basis })
        return []
      }
      if (clock() - candidate.at < CONFIRM_MS) return []
      const facts = { currency, milli, threshold_milli: seen.milli }
      const onWritten = (): void => {
        remember('passed', { milli: seen.milli, basis })
        memory.forget(owner, 'candidate')
      }
      return [{ key: `mrr/${currency}/${seen.milli}`, facts, onWritten }]
    })
  }

  return { factsOf }
}
