/** Finds the lineages that are behind their facts in a read-only file. */
import type { Store } from '../../store/store.ts'
import type { CountedLineage } from '../upkeep/counting.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import { isAffected, type Task } from '../upkeep/tasks.ts'

type Deps = { store: Pick<Store, 'prepare'>; generations: Generations; at: number }

export type Staleness = ReturnType<typeof openStaleness>

/** `at`: the instant through which the file should be up to date. */
export function openStaleness({ store, generations, at }: Deps) {
  const marked = store
    .prepare<[number, number], number>('select 1 from metric_due where generation = ? and lineage_id = ?')
    .pluck()
  const counted = store.prepare<[number, number], CountedLineage>(
    'select * from metric_counted where generation = ? and lineage_id = ?',
  )
  const tasks = store.prepare<[], Task>('select * from metric_tasks').all()

  /**
   * A lineage as last counted; `due` where it is behind its facts or could not be counted; null where it should have
   * been counted and was not.
   */
  function countedIn(generation: Generation, key: Numbered): CountedLineage | 'due' | null {
    const { id, organization_id, made_up_to } = generation
    if (!generations.isLive(generation) || (made_up_to !== null && key.id > made_up_to)) return 'due'
    const last = counted.get(id, key.id) ?? null
    const isDue =
      marked.get(id, key.id) !== undefined ||
      (last?.due_at ?? Number.POSITIVE_INFINITY) <= at ||
      tasks.some((task) => isAffected(task, { ...key, organization_id }, last))
    if (isDue) return 'due'
    // A rebuild adds lineages that the shown generation does not have.
    return last ?? (generations.making(organization_id) === null ? null : 'due')
  }

  return { countedIn }
}
