/** Recomputes changed lineages at the end of a batch of commits, as many as the time limit of the batch allows. */
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
  /** Called after a commit that marked lineages due. */
  onMarked: () => void
  /** Whether lineages are only marked, not recomputed. */
  isHeld: () => boolean
}

/**
 * Returns a function to call within a unit of work for each new fact of a lineage. At the end of the batch each lineage
 * is recomputed once, however many facts arrived. If the time limit of the batch is reached, the remaining lineages are
 * marked due in the same commit.
 */
export function openBatchRecount({ store, due, generations, recount, onMarked, isHeld }: Deps) {
  const addToBatch = store.batchWrites<Touched>((all, batch) => {
    const sums = recount.openSums()
    let isMarked = false
    for (const { key, rank } of uniqueLineages(all).values()) {
      const isRecounted = recountShown(key, batch, sums)
      isMarked = due.mark(key, rank, isRecounted ? 'making' : 'all') || isMarked
    }
    sums.write()
    if (isMarked) store.afterCommit(onMarked)
  })

  /** Recomputes a lineage in the shown generation. Returns false if the lineage must be marked due instead. */
  function recountShown(key: Numbered, batch: Batch, sums: ReturnType<Recount['openSums']>): boolean {
    const shown = generations.shownOf(key.app_id)
    if (shown === null || isHeld() || !generations.isLive(shown) || batch.left_ms() <= 0) return false
    recount.count(shown, key, sums)
    return true
  }

  return (key: Numbered, rank: number): void => addToBatch({ key, rank })
}

/** Returns each lineage once, with the lowest of its ranks. */
function uniqueLineages(all: readonly Touched[]): Map<number, Touched> {
  const touchedById = new Map<number, Touched>()
  for (const one of all) {
    const known = touchedById.get(one.key.id)
    if (known === undefined || one.rank < known.rank) touchedById.set(one.key.id, one)
  }
  return touchedById
}
