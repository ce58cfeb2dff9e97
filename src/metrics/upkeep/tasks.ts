/** Marks lineages due in slices after a change that affects many of them. Tasks are stored and resume after a crash. */
import type { Store } from '../../store/store.ts'
import type { Due } from './due.ts'
import type { Generations } from './generations.ts'
import { type Marks, type Numbered, RANK } from './marks.ts'

/**
 * Which lineages a task marks. rates: lineages converted at a rate that is not final. period: the lineages of the app
 * `subject`. prices: lineages with charges on or after `from_day`. all: the lineages of the organization `subject`, or
 * of all organizations if `subject` is empty.
 */
type TaskKind = 'rates' | 'period' | 'prices' | 'all'
export type Task = { id: number; what: TaskKind; subject: string; from_day: number; cursor: number }

/** Lineages examined in one slice. */
const SLICE_LINEAGES = 500

type Deps = {
  store: Store
  generations: Generations
  marks: Marks
  due: Due
  /** Whether reports are being imported. Prices change with each imported day and would mark all customers each time. */
  isImporting: () => boolean
}

export type Tasks = ReturnType<typeof openTasks>

export function openTasks({ store, generations, marks, due, isImporting }: Deps) {
  const put = store.prepare<Omit<Task, 'id' | 'cursor'>>(`
    insert into metric_tasks ( what,  subject,  from_day, cursor) values (:what, :subject, :from_day, 0)
    on conflict (what, subject) do update set from_day = min(from_day, excluded.from_day), cursor = 0`)
  const first = store.prepare<[string], Task>(
    'select * from metric_tasks where what <> ? order by id limit 1',
  )
  const advance = store.prepare<[number, number]>('update metric_tasks set cursor = ? where id = ?')
  const remove = store.prepare<[number]>('delete from metric_tasks where id = ?')
  const provisional = store.prepare<[number, number], { lineage_id: number }>(`
    select distinct lineage_id from metric_counted indexed by metric_counted_provisional
    where is_provisional = 1 and lineage_id > ? order by lineage_id limit ?`)
  const charged = store.prepare<
    { generation: number; after: number; until: number; day: number },
    { lineage_id: number }
  >(`
    select lineage_id from metric_counted where generation = :generation
      and lineage_id > :after and lineage_id <= :until and last_charge_day >= :day`)

  /** Adds a task. A running task of the same kind and subject restarts. Runs inside a unit of work. */
  const add = (what: TaskKind, subject = '', from_day = 0): void => void put.run({ what, subject, from_day })

  /** The next task. Tasks of kind `prices` wait for the end of an import. */
  const next = (): Task | undefined => first.get(isImporting() ? 'prices' : '')

  /** Marks one slice of the next task’s lineages. Returns false if there is no task. Runs inside a unit of work. */
  function markSlice(): boolean {
    const task = next()
    if (task === undefined) return false
    const { affected, last } = task.what === 'rates' ? provisionalSlice(task) : lineageSlice(task)
    for (const one of affected) due.mark(one, RANK.bulk)
    if (last === null) remove.run(task.id)
    else advance.run(last, task.id)
    return true
  }

  /** The lineages of a slice. `last`: the number of the last examined lineage; null when the task is complete. */
  type Slice = { affected: readonly Numbered[]; last: number | null }

  function provisionalSlice({ cursor }: Task): Slice {
    const examined = provisional.all(cursor, SLICE_LINEAGES)
    const affected = examined.flatMap(({ lineage_id }) => marks.byId(lineage_id) ?? [])
    return { affected, last: examined.length < SLICE_LINEAGES ? null : (examined.at(-1)?.lineage_id ?? null) }
  }

  function lineageSlice(task: Task): Slice {
    const examined = marks.following(task.cursor, SLICE_LINEAGES)
    const until = examined.at(-1)?.id ?? task.cursor
    const affected = examined.filter(affectedBy(task, until))
    return { affected, last: examined.length < SLICE_LINEAGES ? null : until }
  }

  function affectedBy(task: Task, until: number): (one: Numbered) => boolean {
    const { what, subject, cursor, from_day } = task
    if (what === 'period') return ({ app_id }) => app_id === subject
    if (what === 'all') return ({ app_id }) => subject === '' || due.organizationOf(app_id) === subject
    const ids = generations
      .all()
      .flatMap(({ id }) => charged.all({ generation: id, after: cursor, until, day: from_day }))
    const affectedIds = new Set(ids.map(({ lineage_id }) => lineage_id))
    return ({ id }) => affectedIds.has(id)
  }

  /** Whether there is any task, including tasks that wait for the end of an import. */
  const isPending = (): boolean => first.get('') !== undefined

  return { add, markSlice, isPending, isWaiting: (): boolean => next() !== undefined }
}

/** Columns of metric_counted, stored when a lineage was last recomputed. */
type Counted = { is_provisional: number; last_charge_day: number }

/** Whether a task still has to mark a lineage. `counted` is null if the lineage was never computed. */
export function isAffected(
  { what, subject, from_day, cursor }: Task,
  { id, app_id, organization_id }: Numbered & { organization_id: string },
  counted: Counted | null,
): boolean {
  if (id <= cursor) return false
  if (what === 'rates') return counted?.is_provisional === 1
  if (what === 'prices') return (counted?.last_charge_day ?? -1) >= from_day
  return subject === (what === 'period' ? app_id : organization_id) || (what === 'all' && subject === '')
}
