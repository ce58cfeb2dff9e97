/** Recomputes one lineage in one generation; an error affects no other. */
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
  const rest = store.prepare<[number, number]>(
    'update metric_counted set due_at = null where generation = ? and lineage_id = ?',
  )

  /** Recomputes a lineage that is due by a mark or by time, and clears its mark. Runs inside a unit of work. */
  function due(mark: Mark, sums: CountedSums): void {
    const generation = generations.byId(mark.generation)
    const key = marks.byId(mark.lineage_id)
    if (generation && key && generations.isLive(generation)) return count(generation, key, sums)
    // The generation was dropped.
    marks.clear(mark)
    rest.run(mark.generation, mark.lineage_id)
  }

  /** Recomputes a lineage. If that throws, only its mark changes. Runs inside a unit of work. */
  function count(generation: Generation, key: Numbered, sums: CountedSums): void {
    const mark = { generation: generation.id, lineage_id: key.id }
    let add: ReturnType<Counting['count']> | undefined
    const error = store.inSavepoint(() => {
      add = counting.count(generation, key)
      marks.clear(mark)
    })
    if (error === null) add?.(sums)
    else fail(mark, key, error)
  }

  /** Excludes a lineage until its next fact or the next generation. */
  function fail(mark: Mark, { app_id, original_transaction_id }: Numbered, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    const now = clock()
    marks.fail({ ...mark, rank: RANK.bulk, since: now, failed_at: now, reason })
    rest.run(mark.generation, mark.lineage_id)
    log.error('the figures of a subscription could not be counted', {
      app_id,
      original_transaction_id,
      error,
    })
  }

  return { due, count, openSums: counting.openSums }
}
