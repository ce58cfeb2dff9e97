/** Counts again what was counted while the clock was ahead: until it catches up, those figures would be of the future. */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'

/** A clock that is corrected by less than this changes no figure that anyone would notice. */
const TOLERANCE_MS = 1_000

export function openSetBack({ store, clock }: { store: Store; clock: Clock }) {
  const makeDue = store.prepare<{ now: number }>(
    'update metric_counted set due_at = :now where counted_at > :now',
  )
  let seen_at = clock()

  /** Whether the clock was set back since the last call of `makeDue`. Called each second, while the server is idle, too. */
  function isNoticed(): boolean {
    const now = clock()
    seen_at = Math.max(seen_at, now)
    return now < seen_at - TOLERANCE_MS
  }

  return {
    isNoticed,
    /**
     * Makes the lineages due that were counted at an instant that is not reached. Returns whether the clock was set back.
     * Runs inside a unit of work.
     */
    makeDue(): boolean {
      if (!isNoticed()) return false
      const now = clock()
      makeDue.run({ now })
      store.afterCommit(() => {
        seen_at = now
      })
      return true
    },
  }
}
