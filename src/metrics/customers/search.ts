/** Finds customers by an id of any kind or by an attribute. */
import { setImmediate } from 'node:timers/promises'
import type { Environment } from '../../apple/payloads.ts'
import { customerId } from '../../ledger/customers.ts'
import type { Store } from '../../store/store.ts'
import type { IsErased } from './histories.ts'
import type { CustomerScope } from './lists.ts'

type Lineage = { app_id: string; environment: Environment; original_transaction_id: string }
type User = {
  number: number
  app_id: string
  app_user_id: string
  attributes: string
  proved_attributes: string
}

/** Users examined before yielding to the event loop, and the maximum for one page. */
const SLICE = 5_000
const MAX_USERS_SCANNED = 200_000
/** A limit above the lineages that one appAccountToken or user has in practice. */
const MATCHES = 200

/** An attribute to search for, `attribute:plan=pro`. */
export type AttributeQuery = { key: string; value: string }

/** The attribute in a query; null for any other query. */
export function attributeIn(query: string): AttributeQuery | null {
  const [, key, value] = /^attribute:([^=]+)=(.*)$/s.exec(query) ?? []
  return key === undefined || value === undefined ? null : { key, value }
}

export function openSearch(store: Store, isErased: IsErased) {
  const canonical = store.prepare<[string], { canonical_id: string }>(
    'select canonical_id from customers where id = ?',
  )
  const transaction = store.prepare<[string, string, string], Lineage>(`
    select app_id, environment, original_transaction_id from transactions
    where app_id = ? and environment = ? and transaction_id = ?`)
  const tokens = store.prepare<[string, string, number], Lineage>(`
    select distinct app_id, environment, original_transaction_id from transactions
    where app_account_token in (?, ?) limit ?`)
  const bridges = store.prepare<[string, string, string, number], { canonical_id: string }>(`
    select distinct canonical_id from customer_bridges join customers on customers.id = customer_id
    where customer_bridges.app_id = ? and customer_bridges.environment = ? and app_transaction_id = ? limit ?`)
  const links = store.prepare<[string, string, number], { transaction_id: string }>(
    `select transaction_id from links where app_id = ? and app_user_id = ? and store = 'apple' limit ?`,
  )
  // The + forces a scan by rowid: with an index on app_id, every slice would read and sort all users of the app.
  const users = store.prepare<object, User>(`
    select rowid as number, app_id, app_user_id, attributes, proved_attributes from users
    where rowid > :after and rowid <= :until and +app_id in (select value from json_each(:apps))
      and (instr(attributes, :text) > 0 or instr(attributes, :literal) > 0
        or instr(proved_attributes, :text) > 0 or instr(proved_attributes, :literal) > 0)
    order by rowid limit :limit`)
  const lastUser = store.prepare<[], { number: number | null }>('select max(rowid) as number from users')

  const canonicalOf = ({ app_id, environment, original_transaction_id }: Lineage): string | null =>
    canonical.get(customerId(app_id, environment, original_transaction_id))?.canonical_id ?? null

  /**
   * The canonical ids of the customers that match an id: of a customer, an original transaction, a transaction, an app
   * transaction or a user, or an appAccountToken. May include customers of other scopes.
   */
  function byId(id: string, scopes: readonly CustomerScope[]): string[] {
    const found = [
      canonical.get(id)?.canonical_id,
      ...scopes.flatMap((scope) => inScope(id, scope)),
      // UUIDs are case-insensitive.
      ...tokens
        .all(id, id.toLowerCase(), MATCHES)
        .filter(({ app_id }) => !isErased(app_id, id))
        .map(canonicalOf),
    ]
    return [...new Set(found)].filter((one) => typeof one === 'string')
  }

  function inScope(id: string, { app_id, environment }: CustomerScope): (string | null)[] {
    const known = transaction.get(app_id, environment, id)
    return [
      canonicalOf({ app_id, environment, original_transaction_id: id }),
      known ? canonicalOf(known) : null,
      ...bridges.all(app_id, environment, id, MATCHES).map(({ canonical_id }) => canonical_id),
      ...ofUser(app_id, id, [environment]),
    ]
  }

  /** The customers whose purchases are currently linked to a user. */
  function ofUser(app_id: string, app_user_id: string, environments: readonly Environment[]): string[] {
    const found = links
      .all(app_id, app_user_id, MATCHES)
      .flatMap(({ transaction_id }) =>
        environments.map((environment) =>
          canonicalOf({ app_id, environment, original_transaction_id: transaction_id }),
        ),
      )
    return [...new Set(found)].filter((one) => one !== null)
  }

  /**
   * Customers whose users have an attribute, in the order of these users, after the user numbered `after`. `next`
   * continues the list, null at the end. A page may be short or empty before the end.
   */
  async function byAttribute(
    attribute: AttributeQuery,
    scopes: readonly CustomerScope[],
    { after, limit }: { after: number; limit: number },
  ): Promise<{ ids: string[]; next: number | null }> {
    const apps = JSON.stringify([...new Set(scopes.map(({ app_id }) => app_id))])
    const end = lastUser.get()?.number ?? 0
    const ids = new Set<string>()
    let at = after
    const last = Math.min(end, after + MAX_USERS_SCANNED)
    while (at < last && ids.size < limit) {
      if (at > after) await setImmediate()
      const until = Math.min(at + SLICE, last)
      const most = limit - ids.size
      const found = users.all({ after: at, until, apps, ...jsonPatterns(attribute), limit: most })
      for (const id of customersWith(found, attribute, scopes)) ids.add(id)
      at = resumePoint(found, most) ?? until
    }
    return { ids: [...ids], next: at < end ? at : null }
  }

  const customersWith = (
    users: readonly User[],
    attribute: AttributeQuery,
    scopes: readonly CustomerScope[],
  ) => users.filter((user) => hasAttribute(user, attribute)).flatMap((user) => customersOf(user, scopes))

  const customersOf = ({ app_id, app_user_id }: User, scopes: readonly CustomerScope[]): string[] => {
    const appScopes = scopes.filter((scope) => scope.app_id === app_id)
    const environments = appScopes.map(({ environment }) => environment)
    return ofUser(app_id, app_user_id, environments)
  }

  return { byId, byAttribute, ofUser }
}

/** The last user examined, if users may follow it. */
const resumePoint = (found: readonly User[], most: number): number | null =>
  found.length === most ? (found.at(-1)?.number ?? null) : null

/** The forms that the attribute can have in a user’s JSON: a string, or a number or literal. */
function jsonPatterns({ key, value }: AttributeQuery): { text: string; literal: string } {
  const name = JSON.stringify(key)
  return { text: `${name}:${JSON.stringify(value)}`, literal: `${name}:${value}` }
}

/** A proved value of an attribute takes precedence over a claimed one. */
function hasAttribute({ attributes, proved_attributes }: User, { key, value }: AttributeQuery): boolean {
  const all = new Map<string, unknown>([
    ...Object.entries(JSON.parse(attributes)),
    ...Object.entries(JSON.parse(proved_attributes)),
  ])
  return all.has(key) && String(all.get(key)) === value
}
