/** Finds the lineages in a read-only file whose figures do not contain the newest facts. */
import type { Store } from '../../store/store.ts'
import type { CountedLineage } from '../upkeep/counting.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import { isAffected, type Task } from '../upkeep/tasks.ts'

type Deps = { store: Pick<Store, 'prepare'>; generations: Generations; at: number }

export type Staleness = ReturnType<typeof openStaleness>

/** `at`: the instant through which the file should be up to date. */
export function openStaleness({ store, generations, at }: Deps) {
  const isMarked = store
    .prepare<[number, number], number>('select 1 from metric_due where generation = ? and lineage_id = ?')
    .pluck()
  const counted = store.prepare<[number, number], CountedLineage>(
    'select * from metric_counted where generation = ? and lineage_id = ?',
  )
  const tasks = store.prepare<[], Task>('select * from metric_tasks').all()

  /**
   * The totals of a lineage when it was last computed. `due`: the lineage is due or could not be computed. null: the
   * lineage should have been computed, but was not.
   */
  function countedIn(generation: Generation, key: Numbered): CountedLineage | 'due' | null {
    const { id, organization_id, made_up_to } = generation
    if (!generations.isLive(generation) || (made_up_to !== null && key.id > made_up_to)) return 'due'
    const last = counted.get(id, key.id) ?? null
    const isDue =
      isMarked.get(id, key.id) !== undefined ||
      (last?.due_at ?? Number.POSITIVE_INFINITY) <= at ||
      tasks.some((task) => isAffected(task, { ...key, organization_id }, last))
    if (isDue) return 'due'
    // During a rebuild, a lineage may be missing in the shown generation, because the rebuild will add it.
    return last ?? (generations.making(organization_id) === null ? null : 'due')
  }

  return { countedIn }
}
