/** Recomputes the lineages that a batch of commits changed at the end of the batch, as far as time allows. */
import type { Store } from '../../store/store.ts'
import type { Batch } from '../../store/work.ts'
import type { Due } from './due.ts'
import type { Generations } from './generations.ts'
import type { Numbered } from './marks.ts'
import type { Recount } from './recount.ts'

type Touched = { key: Numbered; rank: number }

type Deps = {
  store: Store
  due: Due
  generations: Generations
  recount: Recount
  /** Called after a commit that left lineages due. */
  onMarked: () => void
  /** Whether lineages are only marked, not recomputed. */
  isHeld: () => boolean
}

/**
 * Returns a function to call within a unit of work for each fact of a lineage. At the end of the batch each lineage is
 * recomputed once, however many facts it got. Lineages for which there is no time are marked due in the same commit.
 */
export function openBatchRecount({ store, due, generations, recount, onMarked, isHeld }: Deps) {
  const gather = store.batchWrites<Touched>((all, batch) => {
    const sums = recount.openSums()
    let isMarked = false
    for (const { key, rank } of lineagesIn(all).values()) {
      const isRecounted = recountShown(key, batch, sums)
      isMarked = due.mark(key, rank, isRecounted ? 'making' : 'all') || isMarked
    }
    sums.write()
    if (isMarked) store.afterCommit(onMarked)
  })

  /** Recomputes a lineage in the shown generation; false where it must be marked instead. */
  function recountShown(key: Numbered, batch: Batch, sums: ReturnType<Recount['openSums']>): boolean {
    const shown = generations.shownOf(key.app_id)
    if (shown === null || isHeld() || !generations.isLive(shown) || batch.left_ms() <= 0) return false
    recount.count(shown, key, sums)
    return true
  }

  return (key: Numbered, rank: number): void => gather({ key, rank })
}

/** Each lineage once, with its first rank. */
function lineagesIn(all: readonly Touched[]): Map<number, Touched> {
  const found = new Map<number, Touched>()
  for (const one of all) {
    const known = found.get(one.key.id)
    if (known === undefined || one.rank < known.rank) found.set(one.key.id, one)
  }
  return found
}
