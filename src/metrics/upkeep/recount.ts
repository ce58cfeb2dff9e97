/** What we remember: one lineage brought up to date in one generation, apart from all others. */
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

  /** Brings up to date what a mark or an instant made due, and clears that. Inside a unit of work. */
  function due(mark: Mark, sums: CountedSums): void {
    const generation = generations.byId(mark.generation)
    const key = marks.byId(mark.lineage_id)
    if (generation && key && generations.isLive(generation)) return count(generation, key, sums)
    // Nobody reads it any more.
    marks.clear(mark)
    rest.run(mark.generation, mark.lineage_id)
  }

  /** Brings a lineage up to date. One that throws changes nothing but its mark. Inside a unit of work. */
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

  /** Leaves a lineage out until its next fact or another generation. */
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
