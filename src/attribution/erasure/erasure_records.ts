/** Records of erasures: who requested each one, and when. The user id is stored only until no row names the user. */
import { newId } from '../../ids.ts'
import type { Store } from '../../store/store.ts'

export type Erasure = {
  id: string
  app_id: string
  bundle_id: string
  /** Null once no row names the user. */
  app_user_id: string | null
  asked_by: string
  asked_at: number
  /** The running step. It has processed the rows up to `reached`, and ends at `until`. */
  step: string | null
  reached: number
  until: number
  /** The number of links that named the user. */
  links: number
  /** The number of scrubbed rows: events, and rows that copy data of events. */
  scrubbed: number
  finished_at: number | null
}

/**
 * `running`: rows still name the user. `pending_in_log`: no row does, but the write-ahead log has old pages that another
 * program keeps in use.
 */
type ErasureState = 'running' | 'pending_in_log' | 'done'

/** The fields of an erasure that readers of the app may see. They contain no personal data. */
export type ErasureRecord = Pick<
  Erasure,
  'id' | 'app_id' | 'bundle_id' | 'asked_by' | 'asked_at' | 'links' | 'scrubbed' | 'finished_at'
> & { state: ErasureState }

/** Filters: one organization (null: all), some of its apps (null: all), up to `limit`. */
type Listing = {
  organization_id: string | null
  apps: readonly string[] | null
  limit: number
  /** The id of the last entry of the previous page; null for the first page. */
  before: string | null
}

export function openErasureRecords(store: Pick<Store, 'prepare'>) {
  const insert = store.prepare<[string, string, string, string, number]>(`
    insert into erasures (id, app_id, app_user_id, asked_by, asked_at, reached, until, links, scrubbed)
    values (?, ?, ?, ?, ?, 0, 0, 0, 0)`)
  const select = 'select erasures.*, bundle_id from erasures join apps on apps.id = app_id'
  const byId = store.prepare<[string], Erasure>(`${select} where erasures.id = ?`)
  const newest = store.prepare<object, Erasure>(`${select}
    where (:organization_id is null or organization_id = :organization_id)
      and (:apps is null or app_id in (select value from json_each(:apps)))
      and (:before is null or (asked_at, erasures.id) < (select asked_at, id from erasures where id = :before))
    order by asked_at desc, erasures.id desc limit :limit`)
  const first = store.prepare<[], Erasure>(
    `${select} where finished_at is null and app_user_id is not null order by asked_at, erasures.id limit 1`,
  )
  const pendingInLog = store
    .prepare<[], string>(
      'select id from erasures where finished_at is null and app_user_id is null order by asked_at, id',
    )
    .pluck()
  const count = store.prepare<[number, string]>('update erasures set links = links + ? where id = ?')
  const enter = store.prepare<[string, number, string]>(
    'update erasures set step = ?, reached = 0, until = ? where id = ?',
  )
  const advance = store.prepare<[number, number, string]>(
    'update erasures set reached = ?, scrubbed = scrubbed + ? where id = ?',
  )
  const clearUser = store.prepare<[string]>('update erasures set app_user_id = null where id = ?')
  const end = store.prepare<[number, string]>('update erasures set finished_at = ? where id = ?')

  /** Records a requested erasure and returns its id. Inside a unit of work, as all functions below. */
  function begin(app_id: string, app_user_id: string, asked_by: string, asked_at: number): string {
    const id = newId('era')
    insert.run(id, app_id, app_user_id, asked_by, asked_at)
    return id
  }

  const countLinks = (id: string, links: number): void => void count.run(links, id)
  const enterStep = (id: string, step: string, until: number): void => void enter.run(step, until, id)
  const advanceTo = (id: string, reached: number, scrubbed: number): void =>
    void advance.run(reached, scrubbed, id)
  const anonymize = (id: string): void => void clearUser.run(id)
  const finish = (id: string, at: number): void => void end.run(at, id)

  const get = (id: string): Erasure | null => byId.get(id) ?? null
  /** The oldest erasure whose user is still named in rows, or null. */
  const next = (): Erasure | null => first.get() ?? null
  /** The ids of unfinished erasures whose users no row names any more. */
  const scrubbed = (): string[] => pendingInLog.all()
  /** Erasures, newest first, without personal data. */
  const list = ({ apps, ...listing }: Listing): ErasureRecord[] =>
    newest.all({ ...listing, apps: apps && JSON.stringify(apps) }).map(toErasureRecord)

  return { begin, countLinks, enterStep, advanceTo, anonymize, finish, get, next, scrubbed, list }
}

/** Returns the fields of an erasure without personal data. */
export const toErasureRecord = (erasure: Erasure): ErasureRecord => {
  const { id, app_id, bundle_id, asked_by, asked_at, links, scrubbed, finished_at } = erasure
  return { id, app_id, bundle_id, asked_by, asked_at, links, scrubbed, finished_at, state: stateOf(erasure) }
}

function stateOf({ finished_at, app_user_id }: Erasure): ErasureState {
  if (finished_at !== null) return 'done'
  return app_user_id === null ? 'pending_in_log' : 'running'
}
