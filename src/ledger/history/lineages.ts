/** Stores which lineages were read from Apple, and lists the lineages whose transactions or statuses to read next. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { bound, type Store } from '../../store/store.ts'
import type { AppEnvironment } from './app_environment.ts'

/** The number of rows that are read in one turn of the event loop. */
const ROWS_PER_SLICE = 500

type Key = [app_id: string, environment: string, original_transaction_id: string]
type Candidate = { original_transaction_id: string; is_due: number }

export type Lineages = ReturnType<typeof openLineages>

export function openLineages(store: Store, clock: Clock) {
  const inAppEnvironment = `app_id = :app_id and environment = :environment and original_transaction_id > :after`
  const selectUnread = store.prepare<object, Candidate>(`
    with slice (original_transaction_id) as (
      select original_transaction_id from transactions where ${inAppEnvironment}
      union select original_transaction_id from renewals where ${inAppEnvironment}
      order by original_transaction_id limit ${ROWS_PER_SLICE})
    select slice.original_transaction_id, not exists (
      select 1 from lineage_reads read where app_id = :app_id and environment = :environment
        and read.original_transaction_id = slice.original_transaction_id
        and (read_with is not null or read_at >= :since)) as is_due
    from slice`)
  // A renewal info is stale if it was signed before the period began, or before an expired period ended.
  const selectStale = store.prepare<object, Candidate>(`
    with slice as (
      select * from subscriptions where ${inAppEnvironment} order by original_transaction_id limit ${ROWS_PER_SLICE})
    select original_transaction_id, ifnull((
      select max(signed_at) from renewals where renewals.app_id = slice.app_id
        and renewals.environment = slice.environment
        and renewals.original_transaction_id = slice.original_transaction_id), 0)
        < iif(expires_at <= :now, expires_at, period_started_at)
      and not exists (
        select 1 from lineage_reads read where read.app_id = slice.app_id and read.environment = slice.environment
          and read.original_transaction_id = slice.original_transaction_id and status_asked_at >= :since) as is_due
    from slice`)
  const find = store.prepare<Key, { revision: string | null }>(
    'select revision from lineage_reads where app_id = ? and environment = ? and original_transaction_id = ?',
  )
  const putRevision = store.prepare<[...Key, string]>(`
    insert into lineage_reads (app_id, environment, original_transaction_id, revision) values (?, ?, ?, ?)
    on conflict do update set revision = excluded.revision, read_at = null, read_with = null`)
  // `read_at` is never before the backfill's start, so that the backfill also ends after the clock was set back.
  const putFinished = store.prepare<object>(`
    insert into lineage_reads (app_id, environment, original_transaction_id, revision, read_at)
    values (:app_id, :environment, :id, :revision, max(:now, ifnull(
      (select started_at from backfills where app_id = :app_id and environment = :environment), 0)))
    on conflict do update set revision = excluded.revision, read_at = excluded.read_at, read_with = null`)
  const findReadSince = store.prepare<[...Key, number]>(`
    select 1 from lineage_reads where app_id = ? and environment = ? and original_transaction_id = ?
      and (read_with is not null or read_at >= ?)`)
  const insertReadWith = store.prepare<[...Key, string]>(`
    insert or ignore into lineage_reads (app_id, environment, original_transaction_id, read_with) values (?, ?, ?, ?)`)
  const putStatusRead = store.prepare<[...Key, number]>(`
    insert into lineage_reads (app_id, environment, original_transaction_id, status_asked_at) values (?, ?, ?, ?)
    on conflict do update set status_asked_at = excluded.status_asked_at`)
  const findStatusReadSince = store.prepare<[...Key, number]>(`
    select 1 from lineage_reads where app_id = ? and environment = ? and original_transaction_id = ?
      and status_asked_at >= ?`)
  const findNotification = store.prepare<Key, { one: number }>(`
    select 1 as one from notifications where app_id = ${bound} and environment = ${bound}
      and original_transaction_id = ${bound} and status is not null limit 1`)

  /** The lineages of an app environment whose transactions were not read since `since`, in slices. */
  const unreadSince = (appEnvironment: AppEnvironment, since: number) =>
    slices((after) => selectUnread.all(sliceParams(appEnvironment, after, since)))

  /** Whether a lineage's transactions were read since `since`, alone or with another lineage of its customer. */
  const isReadSince = (
    { app, environment }: AppEnvironment,
    original_transaction_id: string,
    since: number,
  ): boolean => findReadSince.get(app.id, environment, original_transaction_id, since) !== undefined

  /** The subscriptions of an app environment whose status may be stale and was not read since `since`. */
  const staleSince = (appEnvironment: AppEnvironment, since: number) =>
    slices((after) => selectStale.all({ ...sliceParams(appEnvironment, after, since), now: clock() }))

  /** The revision from which to continue reading a lineage; null if nothing was read yet. */
  const revisionOf = ({ app, environment }: AppEnvironment, original_transaction_id: string): string | null =>
    find.get(app.id, environment, original_transaction_id)?.revision ?? null

  /** Records that a lineage's transactions were applied up to `revision`. */
  const savePage = (
    { app, environment }: AppEnvironment,
    original_transaction_id: string,
    revision: string,
  ): void => void putRevision.run(app.id, environment, original_transaction_id, revision)

  /** Records that all pages were applied. `others`, the other lineages in these pages, count as read, too. */
  function finish(
    { app, environment }: AppEnvironment,
    original_transaction_id: string,
    revision: string | null,
    others: Iterable<string>,
  ): void {
    putFinished.run({ app_id: app.id, environment, id: original_transaction_id, revision, now: clock() })
    for (const other of others) insertReadWith.run(app.id, environment, other, original_transaction_id)
  }

  /** Records that the statuses of these lineages were read. */
  function markStatusRead({ app, environment }: AppEnvironment, ids: Iterable<string>): void {
    for (const id of ids) putStatusRead.run(app.id, environment, id, clock())
  }

  const isStatusReadSince = ({ app, environment }: AppEnvironment, id: string, since: number): boolean =>
    findStatusReadSince.get(app.id, environment, id, since) !== undefined

  /** Whether a notification of the subscription has arrived. */
  const hasNotification = ({ app, environment }: AppEnvironment, original_transaction_id: string): boolean =>
    findNotification.get(app.id, environment, original_transaction_id) !== undefined

  return {
    unreadSince,
    isReadSince,
    staleSince,
    revisionOf,
    savePage,
    finish,
    markStatusRead,
    isStatusReadSince,
    hasNotification,
  }
}

const sliceParams = ({ app, environment }: AppEnvironment, after: string, since: number) => ({
  app_id: app.id,
  environment,
  after,
  since,
})

/** Iterates over candidates in slices, ordered by id, and yields the due ids of each slice. */
async function* slices(next: (after: string) => Candidate[]): AsyncGenerator<string[], void, undefined> {
  let after = ''
  for (;;) {
    const slice = next(after)
    const last = slice.at(-1)
    if (last === undefined) return
    after = last.original_transaction_id
    const due = slice.filter(({ is_due }) => is_due === 1).map((one) => one.original_transaction_id)
    if (due.length > 0) yield due
    else await setImmediate()
  }
}
