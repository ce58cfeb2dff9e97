/** Keeps the change log short: an export continues from a cursor that is at most 30 days old. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const DAY_MS = 86_400_000
/** How long changes are kept, and how many at most. */
const KEPT_DAYS = 30
const MAX_CHANGES = 5_000_000
/** The number of changes that one commit deletes. */
const CHANGES_PER_DELETE = 2_000

type ErasedUser = { app_id: string; app_user_id: string }
type TokenQuery = { app_id: string; tokens: string }

/** Opens the change log. `most`: how many changes are kept at most. */
export function openChangeLog(store: Store, clock: Clock, most = MAX_CHANGES) {
  const newest = store.prepare<[], { change: number | null }>('select max(change) as change from row_changes')
  const mark = store.prepare<[number, number]>(
    'insert or replace into change_marks (at, change) values (?, ?)',
  )
  const expired = store.prepare<[number], { change: number | null }>(
    'select max(change) as change from change_marks where at <= ?',
  )
  const deleteMarks = store.prepare<[number]>('delete from change_marks where change <= ?')
  const deleteSome = store.prepare<[number, number]>(`
    delete from row_changes where change in (select change from row_changes where change < ? order by change limit ?)`)
  const logTokens = store.prepare<TokenQuery>(`
    insert into row_changes (source, app_id, key)
    select 'transactions', app_id, environment || '/' || transaction_id from transactions
    where app_account_token in (select value from json_each(:tokens)) and app_id = :app_id`)

  /**
   * Notes how far the log has grown, and deletes what is too old, in short commits. The newest change stays, because a
   * cursor may name it. Returns the number of deleted changes.
   */
  async function prune(): Promise<number> {
    const head = newest.get()?.change ?? 0
    const until = Math.max(expired.get(clock() - KEPT_DAYS * DAY_MS)?.change ?? 0, head - most)
    await store.commitBulk(() => {
      mark.run(clock(), head)
      deleteMarks.run(Math.min(until, head - 1))
    })
    let deleted = 0
    for (let count = 1; count > 0; deleted += count)
      count = await store.commitBulk(
        () => deleteSome.run(Math.min(until + 1, head), CHANGES_PER_DELETE).changes,
      )
    return deleted
  }

  /** Logs the transactions whose token exports no longer show. Call it in the unit of work that erases the user. */
  function userErased({ app_id, app_user_id }: ErasedUser): void {
    const tokens = [app_user_id, app_user_id.toLowerCase(), app_user_id.toUpperCase()]
    logTokens.run({ app_id, tokens: JSON.stringify(tokens) })
  }

  return { prune, userErased }
}
