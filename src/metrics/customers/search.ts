/** Finds customers by an id of any kind or its beginning. */
import type { Environment } from '../../apple/payloads.ts'
import { customerId } from '../../ledger/customers.ts'
import type { Store } from '../../store/store.ts'
import type { IsErased } from './histories.ts'
import type { CustomerScope } from './lists.ts'

type Lineage = { app_id: string; environment: Environment; original_transaction_id: string }

/** The maximum number of rows read for one id. In practice an appAccountToken or user has fewer lineages. */
const MAX_MATCHES = 200
/** The minimum length of the beginning of an id that is searched for. */
const MIN_BEGINNING_LENGTH = 6
/** Follows every text that begins with the text before it. */
const LAST_CHARACTER = '\u{10ffff}'

export function openSearch(store: Store, isErased: IsErased) {
  const canonicalIdOf = store.prepare<[string], { canonical_id: string }>(
    'select canonical_id from customers where id = ?',
  )
  const idsFrom = store.prepare<[string, string, number], { canonical_id: string }>(
    'select distinct canonical_id from customers where id >= ? and id < ? limit ?',
  )
  // One statement for each of the two indexes.
  const [lineagesFrom, transactionsFrom] = (['original_transaction_id', 'transaction_id'] as const).map(
    (column) =>
      store.prepare<[string, string, string, string, number], Lineage>(`
      select distinct app_id, environment, original_transaction_id from transactions
      where app_id = ? and environment = ? and ${column} >= ? and ${column} < ? limit ?`),
  )
  const lineageOfTransaction = store.prepare<[string, string, string], Lineage>(`
    select app_id, environment, original_transaction_id from transactions
    where app_id = ? and environment = ? and transaction_id = ?`)
  const lineagesByToken = store.prepare<[string, string, number], Lineage>(`
    select distinct app_id, environment, original_transaction_id from transactions
    where app_account_token in (?, ?) limit ?`)
  const byAppTransaction = store.prepare<[string, string, string, number], { canonical_id: string }>(`
    select distinct canonical_id from customer_bridges join customers on customers.id = customer_id
    where customer_bridges.app_id = ? and customer_bridges.environment = ? and app_transaction_id = ? limit ?`)
  const linksOfUser = store.prepare<[string, string, number], { transaction_id: string }>(
    `select transaction_id from links where app_id = ? and app_user_id = ? and store = 'apple' limit ?`,
  )
  const canonicalOf = ({ app_id, environment, original_transaction_id }: Lineage): string | null =>
    canonicalIdOf.get(customerId(app_id, environment, original_transaction_id))?.canonical_id ?? null

  /**
   * The canonical ids of the customers that match an id. The id may be that of a customer, an original transaction, a
   * transaction, an app transaction or a user, or an appAccountToken; of the first three, also its beginning. May include
   * customers of other scopes.
   */
  function byId(id: string, scopes: readonly CustomerScope[]): string[] {
    const found = [
      canonicalIdOf.get(id)?.canonical_id,
      ...scopes.flatMap((scope) => matchesInScope(id, scope)),
      // UUIDs are case-insensitive.
      ...lineagesByToken
        .all(id, id.toLowerCase(), MAX_MATCHES)
        .filter(({ app_id }) => !isErased(app_id, id))
        .map(canonicalOf),
      ...byBeginning(id, scopes),
    ]
    return [...new Set(found)].filter((one) => typeof one === 'string')
  }

  function byBeginning(text: string, scopes: readonly CustomerScope[]): (string | null)[] {
    if (text.length < MIN_BEGINNING_LENGTH) return []
    const range = [text, text + LAST_CHARACTER] as const
    const lineages = scopes.flatMap(({ app_id, environment }) =>
      [lineagesFrom, transactionsFrom].flatMap(
        (from) => from?.all(app_id, environment, ...range, MAX_MATCHES) ?? [],
      ),
    )
    return [
      ...idsFrom.all(...range, MAX_MATCHES).map(({ canonical_id }) => canonical_id),
      ...lineages.map(canonicalOf),
    ]
  }

  function matchesInScope(id: string, { app_id, environment }: CustomerScope): (string | null)[] {
    const known = lineageOfTransaction.get(app_id, environment, id)
    return [
      canonicalOf({ app_id, environment, original_transaction_id: id }),
      known ? canonicalOf(known) : null,
      ...byAppTransaction.all(app_id, environment, id, MAX_MATCHES).map(({ canonical_id }) => canonical_id),
      ...ofUser(app_id, id, [environment]),
    ]
  }

  /** The customers whose purchases are currently linked to a user. */
  function ofUser(app_id: string, app_user_id: string, environments: readonly Environment[]): string[] {
    const found = linksOfUser
      .all(app_id, app_user_id, MAX_MATCHES)
      .flatMap(({ transaction_id }) =>
        environments.map((environment) =>
          canonicalOf({ app_id, environment, original_transaction_id: transaction_id }),
        ),
      )
    return [...new Set(found)].filter((one) => one !== null)
  }

  return { byId, ofUser }
}
