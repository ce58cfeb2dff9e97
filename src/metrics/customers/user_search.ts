/** Finds customers by their users: by an attribute, or a part of a user id, an e-mail or a name. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { CustomerScope } from './lists.ts'
import type { openSearch } from './search.ts'
import { matchesUser, prefilterOf, type StoredUser, type UserQuery } from './user_queries.ts'

type User = StoredUser & { number: number; app_id: string }

/** Users examined before yielding to the event loop, and the maximum for one page. */
const SLICE_USERS = 5_000
const MAX_USERS_SCANNED = 200_000

export function openUserSearch(store: Store, { ofUser }: Pick<ReturnType<typeof openSearch>, 'ofUser'>) {
  // The + forces a scan by id. With an index on app_id, each slice would read and sort all users of the app.
  const users = store.prepare<object, User>(`
    select id as number, app_id, app_user_id, attributes, proved_attributes from users
    where id > :after and id <= :until and +app_id in (select value from json_each(:apps))
      and (case when :part is null then
          instr(attributes, :text) > 0 or instr(attributes, :literal) > 0
          or instr(proved_attributes, :text) > 0 or instr(proved_attributes, :literal) > 0
        else instr(lower(app_user_id), :part) > 0 or instr(lower(attributes), :part) > 0
          or instr(lower(proved_attributes), :part) > 0 end)
    order by id limit :limit`)
  const lastUser = store.prepare<[], { number: number | null }>('select max(id) as number from users')

  /**
   * Customers whose users match, in the order of the users, after the user numbered `after`. `next` is the `after` of the
   * following page; null at the end. A page before the end may be short or empty.
   */
  async function amongUsers(
    query: UserQuery,
    scopes: readonly CustomerScope[],
    { after, limit }: { after: number; limit: number },
  ): Promise<{ ids: string[]; next: number | null }> {
    const apps = JSON.stringify([...new Set(scopes.map(({ app_id }) => app_id))])
    const end = lastUser.get()?.number ?? 0
    const ids = new Set<string>()
    let cursor = after
    const last = Math.min(end, after + MAX_USERS_SCANNED)
    while (cursor < last && ids.size < limit) {
      if (cursor > after) await setImmediate()
      const until = Math.min(cursor + SLICE_USERS, last)
      const max_count = limit - ids.size
      const found = users.all({ after: cursor, until, apps, ...prefilterOf(query), limit: max_count })
      for (const id of customersWith(found, query, scopes)) ids.add(id)
      cursor = resumePoint(found, max_count) ?? until
    }
    return { ids: [...ids], next: cursor < end ? cursor : null }
  }

  const customersWith = (users: readonly User[], query: UserQuery, scopes: readonly CustomerScope[]) =>
    users.filter((user) => matchesUser(user, query)).flatMap((user) => customersOf(user, scopes))

  const customersOf = ({ app_id, app_user_id }: User, scopes: readonly CustomerScope[]): string[] => {
    const appScopes = scopes.filter((scope) => scope.app_id === app_id)
    const environments = appScopes.map(({ environment }) => environment)
    return ofUser(app_id, app_user_id, environments)
  }

  return amongUsers
}

/** The number of the last user that was read, if the limit was reached; null otherwise. */
const resumePoint = (found: readonly User[], max_count: number): number | null =>
  found.length === max_count ? (found.at(-1)?.number ?? null) : null
