/** What we remember: changes that concern many lineages, which are marked as due in slices, so that a crash forgets none. */
import type { Store } from '../../store/store.ts'
import type { Due } from './due.ts'
import type { Generations } from './generations.ts'
import { type Marks, type Numbered, RANK } from './marks.ts'

/**
 * rates: concerns what waits for a final rate. period: the lineages of an app. prices: who was charged from a day on. all:
 * the lineages of an organization, of each where the subject is empty.
 */
type What = 'rates' | 'period' | 'prices' | 'all'
export type Task = { id: number; what: What; subject: string; from_day: number; cursor: number }

/** Lineages looked at in one slice. */
const AT_ONCE = 500

type Deps = {
  store: Store
  generations: Generations
  marks: Marks
  due: Due
  /** Whether reports are being imported: each day of a year changes prices, and all customers would be counted each time. */
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

  /** Remembers a change. One of the same kind that is under way begins again. Inside a unit of work. */
  const add = (what: What, subject = '', from_day = 0): void => void put.run({ what, subject, from_day })

  /** The task to do now. Prices wait for the end of an import. */
  const next = (): Task | undefined => first.get(isImporting() ? 'prices' : '')

  /** Marks what a task concerns, a slice of it; false where there is no task. Inside a unit of work. */
  function slice(): boolean {
    const task = next()
    if (task === undefined) return false
    const { affected, last } = task.what === 'rates' ? provisionalSlice(task) : lineageSlice(task)
    for (const one of affected) due.mark(one, RANK.bulk)
    if (last === null) remove.run(task.id)
    else advance.run(last, task.id)
    return true
  }

  /** What a slice concerns. `last`: where the next goes on, null where there is none. */
  type Slice = { affected: readonly Numbered[]; last: number | null }

  function provisionalSlice({ cursor }: Task): Slice {
    const some = provisional.all(cursor, AT_ONCE)
    const affected = some.flatMap(({ lineage_id }) => marks.byId(lineage_id) ?? [])
    return { affected, last: some.length < AT_ONCE ? null : (some.at(-1)?.lineage_id ?? null) }
  }

  function lineageSlice(task: Task): Slice {
    const some = marks.following(task.cursor, AT_ONCE)
    const until = some.at(-1)?.id ?? task.cursor
    const affected = some.filter(affectedBy(task, until))
    return { affected, last: some.length < AT_ONCE ? null : until }
  }

  function affectedBy(task: Task, until: number): (one: Numbered) => boolean {
    const { what, subject, cursor, from_day } = task
    if (what === 'period') return ({ app_id }) => app_id === subject
    if (what === 'all') return ({ app_id }) => subject === '' || due.organizationOf(app_id) === subject
    const ids = generations
      .all()
      .flatMap(({ id }) => charged.all({ generation: id, after: cursor, until, day: from_day }))
    const all = new Set(ids.map(({ lineage_id }) => lineage_id))
    return ({ id }) => all.has(id)
  }

  /** Whether there is any task, also one that waits for the end of an import. */
  const isPending = (): boolean => first.get('') !== undefined

  return { add, slice, isPending, isWaiting: (): boolean => next() !== undefined }
}

/** How a lineage was counted last. */
type Counted = { is_provisional: number; last_charge_day: number }

/** Whether a lineage is yet to be marked for a task. `counted` is null where it never was. */
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
