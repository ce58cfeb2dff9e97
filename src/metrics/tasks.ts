/** What we remember: what of the metrics has to be made anew, until it is; so that a crash forgets none of it. */
import type { Organizations } from '../apps/organizations.ts'
import type { Store } from '../store/store.ts'
import type { Factors } from './months.ts'

/** `settings`: everything. `rates`: what waits for one. Anything else: all of the app with that id. */
export type Task = string

export function openTasks(store: Store, organizations: Organizations, factors: Factors) {
  const insert = store.prepare<[string]>('insert or ignore into metric_tasks (task) values (?)')
  const remove = store.prepare<[string]>('delete from metric_tasks where task = ?')
  const first = store.prepare<[], { task: string }>('select task from metric_tasks order by task limit 1')
  const find = store.prepare<[string], { counted_by: string }>(
    'select counted_by from metric_settings where organization_id = ?',
  )
  const put = store.prepare<[string, string]>(
    'insert or replace into metric_settings (organization_id, counted_by) values (?, ?)',
  )

  /** Inside a unit of work. */
  const add = (task: Task): void => void insert.run(task)

  const next = (): Task | null => first.get()?.task ?? null

  /** Inside a unit of work. */
  const finish = (task: Task): void => void remove.run(task)

  /** Sees whether an organization is counted by something else than before. Inside a unit of work. */
  function compareSettings(): void {
    for (const { id, time_zone, currency } of organizations.list()) {
      const counted_by = JSON.stringify({ time_zone, currency, factors })
      const before = find.get(id)?.counted_by
      if (before === counted_by) continue
      put.run(id, counted_by)
      if (before !== undefined) add('settings')
    }
  }

  return { add, next, finish, compareSettings }
}
