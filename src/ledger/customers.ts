/**
 * Customers, as far as Apple's own ids identify them. A customer is a connected component over original
 * transaction ids and app transaction ids, within one app and environment.
 */
import type { Environment } from '../apple/payloads.ts'
import { derivedId } from '../ids.ts'
import { bound, type Store } from '../store/store.ts'

export type Customer = {
  /** The lineage's own id. It resolves permanently, whatever is merged later. */
  id: string
  app_id: string
  environment: Environment
  original_transaction_id: string
  original_purchased_at: number | null
  /** The id of the component: the id of its lineage with the least (original_purchased_at, id). */
  canonical_id: string
}

/** The part of a proved payload that identifies the buyer. */
export type CustomerIdentifiers = {
  original_transaction_id: string
  original_purchased_at: number | null
  app_transaction_ids: readonly string[]
}

export function openCustomers(store: Store) {
  const find = store.prepare<[string], Customer>('select * from customers where id = ?')
  const insert = store.prepare<Customer>(`
    insert into customers ( id,  app_id,  environment,  original_transaction_id,  original_purchased_at,  canonical_id)
    values                (:id, :app_id, :environment, :original_transaction_id, :original_purchased_at, :canonical_id)`)
  const date = store.prepare<[number, string]>('update customers set original_purchased_at = ? where id = ?')
  const bridge = store.prepare<[string, string, string, string]>(
    'insert or ignore into customer_bridges (app_id, environment, app_transaction_id, customer_id) values (?, ?, ?, ?)',
  )
  const acrossBridge = store.prepare<[string, string, string], { canonical_id: string }>(`
    select distinct canonical_id from customer_bridges join customers on customers.id = customer_id
    where customer_bridges.app_id = ${bound} and customer_bridges.environment = ${bound}
      and app_transaction_id = ${bound}`)
  const membersOf = store.prepare<[string], Customer>(`
    select * from customers where canonical_id in (select value from json_each(?))`)
  const byCanonicalId = store.prepare<[string], Customer>(
    `select * from customers where canonical_id = ${bound}`,
  )
  const setCanonical = store.prepare<[string, string]>('update customers set canonical_id = ? where id = ?')

  /**
   * Records the ids of one payload. Returns its customer, with the canonical ids that this payload merged into it.
   * The resulting rows depend on the ids that are known, not on the order in which they came.
   */
  function identify(app_id: string, environment: Environment, identifiers: CustomerIdentifiers) {
    const id = customerId(app_id, environment, identifiers.original_transaction_id)
    const known = find.get(id)
    if (!known) insertCustomer(id, app_id, environment, identifiers)
    const isDateChanged = known ? updatePurchaseDate(known, identifiers.original_purchased_at) : false
    const canonical = new Set([known?.canonical_id ?? id])
    for (const app_transaction_id of identifiers.app_transaction_ids) {
      for (const across of customersSharing(app_id, environment, app_transaction_id, id))
        canonical.add(across)
    }
    if (!isDateChanged && canonical.size === 1) return { canonical_id: [...canonical][0] ?? id, merged: [] }
    const leader = merge([...canonical])
    // A lineage that is new joins a customer; that does not merge two.
    const merged = [...canonical].filter((one) => one !== leader && (known || one !== id))
    return { canonical_id: leader, merged }
  }

  function insertCustomer(
    id: string,
    app_id: string,
    environment: Environment,
    identifiers: CustomerIdentifiers,
  ): void {
    const { original_transaction_id, original_purchased_at } = identifiers
    insert.run({ id, app_id, environment, original_transaction_id, original_purchased_at, canonical_id: id })
  }

  /** Returns true when the lineage's date changed: another lineage may then lead its component. */
  function updatePurchaseDate(known: Customer, original_purchased_at: number | null): boolean {
    if (original_purchased_at === null) return false
    const isEarlier =
      known.original_purchased_at === null || original_purchased_at < known.original_purchased_at
    if (isEarlier) date.run(original_purchased_at, known.id)
    return isEarlier
  }

  /** The canonical ids that a new bridge leads to. */
  function customersSharing(
    app_id: string,
    environment: Environment,
    app_transaction_id: string,
    id: string,
  ): string[] {
    const { changes } = bridge.run(app_id, environment, app_transaction_id, id)
    if (changes === 0) return []
    return acrossBridge.all(app_id, environment, app_transaction_id).map((row) => row.canonical_id)
  }

  /** Merges the components of these ids. Returns the canonical id. */
  function merge(canonicalIds: string[]): string {
    const members = membersOf.all(JSON.stringify(canonicalIds))
    const leader = members.reduce((best, member) => (isEarlierCustomer(member, best) ? member : best))
    for (const member of members) {
      if (member.canonical_id !== leader.id) setCanonical.run(leader.id, member.id)
    }
    return leader.id
  }

  /** The canonical id of the customer for the id of any lineage; null for an unknown id. */
  const resolve = (id: string): string | null => find.get(id)?.canonical_id ?? null

  /** The customer of a lineage, in any environment; null while Apple has reported none. */
  function findByLineage(app_id: string, original_transaction_id: string): Customer | null {
    const inEnvironment = (environment: Environment) =>
      find.get(customerId(app_id, environment, original_transaction_id))
    return inEnvironment('production') ?? inEnvironment('sandbox') ?? null
  }

  /** Every lineage of the customer with this canonical id. */
  const lineages = (canonical_id: string): Customer[] => byCanonicalId.all(canonical_id)

  return { identify, resolve, findByLineage, lineages }
}

/** The id of a lineage, derived from Apple's ids. */
export const customerId = (
  app_id: string,
  environment: Environment,
  original_transaction_id: string,
): string => derivedId('cus', app_id, environment, original_transaction_id)

function isEarlierCustomer(a: Customer, b: Customer): boolean {
  const dateOfA = a.original_purchased_at ?? Number.MAX_SAFE_INTEGER
  const dateOfB = b.original_purchased_at ?? Number.MAX_SAFE_INTEGER
  return dateOfA === dateOfB ? a.id < b.id : dateOfA < dateOfB
}
