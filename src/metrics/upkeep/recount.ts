/** Recomputes one lineage in one generation. An error does not affect other lineages. */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { CountedSums, Counting } from './counting.ts'
import type { Generation, Generations } from './generations.ts'
import { type Mark, type Marks, type Numbered, RANK } from './marks.ts'

type Deps = {
  store: Store
  clock: Clock
  log: Log
  generations: Generations
  marks: Marks
  counting: Counting
}

export type Recount = ReturnType<typeof openRecount>

export function openRecount({ store, clock, log, generations, marks, counting }: Deps) {
  const clearDueTime = store.prepare<[number, number]>(
    'update metric_counted set due_at = null where generation = ? and lineage_id = ?',
  )

  /** Recomputes the lineage of a mark, and clears the mark. Runs inside a unit of work. */
  function recountMarked(mark: Mark, sums: CountedSums): void {
    const generation = generations.byId(mark.generation)
    const key = marks.byId(mark.lineage_id)
    if (generation && key && generations.isLive(generation)) return count(generation, key, sums)
    // The generation was dropped or is frozen.
    marks.clear(mark)
    clearDueTime.run(mark.generation, mark.lineage_id)
  }

  /** Recomputes a lineage. If that throws, only the lineage’s mark changes. Runs inside a unit of work. */
  function count(generation: Generation, key: Numbered, sums: CountedSums): void {
    const mark = { generation: generation.id, lineage_id: key.id }
    let addToSums: ReturnType<Counting['count']> | undefined
    const error = store.inSavepoint(() => {
      addToSums = counting.count(generation, key)
      marks.clear(mark)
    })
    if (error === null) addToSums?.(sums)
    else fail(mark, key, error)
  }

  /** Records the error. The lineage is not retried until its next fact or the next generation. */
  function fail(mark: Mark, { app_id, original_transaction_id }: Numbered, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    const now = clock()
    marks.fail({ ...mark, rank: RANK.bulk, since: now, failed_at: now, reason })
    clearDueTime.run(mark.generation, mark.lineage_id)
    log.error('the figures of a subscription could not be counted', {
      app_id,
      original_transaction_id,
      error,
    })
  }

  return { recountMarked, count, openSums: counting.openSums }
}
