/** Finds the keys of rows that were changed or deleted between two positions, in the change log. */
import type { Store } from '../store/store.ts'
import { yieldToEventLoop } from '../turns.ts'
import type { ExportScope } from './rows.ts'
import type { Cell } from './tables/table.ts'

/** The number of logged changes that are read in one turn of the event loop. */
const CHANGES_PER_SLICE = 2_000

type Range = Readonly<{ after: number; until: number }>
type LoggedKey = { app_id: string; key: string }
type Slice = Range & { source: string; organization_id: string | null; apps: string | null }

export function openChangedKeys(store: Pick<Store, 'prepare'>) {
  // Numbers can be far apart: a restore skips those that the previous database may have used.
  const end = store.prepare<Range & { count: number }, { change: number | null }>(`
    select max(change) as change from (
      select change from row_changes where change > :after and change <= :until order by change limit :count)`)
  // Reports belong to an organization, of which the log knows nothing; rates belong to none.
  const slice = store.prepare<Slice, LoggedKey>(`
    select app_id, key from row_changes
    where change > :after and change <= :until and source = :source
      and (:organization_id is null or app_id in (select id from apps where organization_id = :organization_id)
        or (app_id = '' and (source <> 'reports'
          or cast(key as integer) in (select id from reports where organization_id = :organization_id))))
      and (:apps is null or app_id = '' or app_id in (select value from json_each(:apps)))
    order by change`)

  /**
   * The distinct keys of the rows of `source` that were changed after `after` up to `until`, in the order of their first
   * change; null if there are more than `most`.
   */
  async function between(
    source: string,
    { after, until }: Range,
    scope: ExportScope,
    most: number,
  ): Promise<string[] | null> {
    const keys = new Set<string>()
    const { organization_id } = scope
    const apps = scope.apps && JSON.stringify(scope.apps)
    for (let from = after; ; ) {
      await yieldToEventLoop()
      const to = end.get({ after: from, until, count: CHANGES_PER_SLICE })?.change ?? null
      if (to === null) return [...keys]
      for (const { app_id, key } of slice.all({ after: from, until: to, source, organization_id, apps }))
        keys.add(`${app_id}\n${key}`)
      if (keys.size > most) return null
      from = to
    }
  }

  return { between }
}

/**
 * The values of the key columns that a logged key names. A key of several columns is written
 * `environment/id`, after the app; a number is written as text.
 */
export function keyValues(logged: string, columns: readonly string[]): Cell[] {
  const [app_id = '', key = ''] = logged.split('\n')
  if (columns.length === 1) return [/^\d+$/.test(key) ? Number(key) : key]
  const slash = key.indexOf('/')
  const parts = [key.slice(0, slash), key.slice(slash + 1)]
  return columns.length === 3 ? [app_id, ...parts] : parts
}
