/**
 * Identifies customers by Apple's ids. A customer is a connected component over original transaction ids and app
 * transaction ids, within one app and environment.
 */
import type { Environment } from '../apple/payloads.ts'
import { derivedId } from '../ids.ts'
import { bound, type Store } from '../store/store.ts'

export type Customer = {
  /** The id of the lineage. It always resolves to a customer, even after merges. */
  id: string
  app_id: string
  environment: Environment
  original_transaction_id: string
  original_purchased_at: number | null
  /** The id of the component: the id of its lineage with the smallest (original_purchased_at, id). */
  canonical_id: string
}

/** The fields of a verified payload that identify the customer. */
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
  const setPurchaseDate = store.prepare<[number, string]>(
    'update customers set original_purchased_at = ? where id = ?',
  )
  const insertBridge = store.prepare<[string, string, string, string]>(
    'insert or ignore into customer_bridges (app_id, environment, app_transaction_id, customer_id) values (?, ?, ?, ?)',
  )
  const selectByBridge = store.prepare<[string, string, string], { canonical_id: string }>(`
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
   * Records the ids of one payload. Returns the canonical id of its customer, and the canonical ids that this payload
   * merged into that customer. The resulting rows do not depend on the order in which the payloads arrived.
   */
  function identify(app_id: string, environment: Environment, identifiers: CustomerIdentifiers) {
    const id = customerId(app_id, environment, identifiers.original_transaction_id)
    const existing = find.get(id)
    if (!existing) insertCustomer(id, app_id, environment, identifiers)
    const isDateChanged = existing ? updatePurchaseDate(existing, identifiers.original_purchased_at) : false
    const ids = new Set([existing?.canonical_id ?? id])
    for (const app_transaction_id of identifiers.app_transaction_ids)
      for (const bridgedId of customersSharing(app_id, environment, app_transaction_id, id))
        ids.add(bridgedId)
    if (!isDateChanged && ids.size === 1) return { canonical_id: existing?.canonical_id ?? id, merged: [] }
    const leader = merge([...ids])
    // A new lineage that joins a customer does not merge two customers.
    const merged = [...ids].filter((one) => one !== leader && (existing || one !== id))
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
  function updatePurchaseDate(existing: Customer, original_purchased_at: number | null): boolean {
    if (original_purchased_at === null) return false
    const isEarlier =
      existing.original_purchased_at === null || original_purchased_at < existing.original_purchased_at
    if (isEarlier) setPurchaseDate.run(original_purchased_at, existing.id)
    return isEarlier
  }

  /** Records that a lineage has an app transaction id. If that is new, returns the customers that share the id. */
  function customersSharing(
    app_id: string,
    environment: Environment,
    app_transaction_id: string,
    id: string,
  ): string[] {
    if (insertBridge.run(app_id, environment, app_transaction_id, id).changes === 0) return []
    return selectByBridge.all(app_id, environment, app_transaction_id).map((row) => row.canonical_id)
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

  /** The canonical id of the customer to which a lineage's id belongs; null for an unknown id. */
  const resolve = (id: string): string | null => find.get(id)?.canonical_id ?? null

  /** The row of a lineage, in production or else in the sandbox; null while Apple has not reported the lineage. */
  function findByLineage(app_id: string, original_transaction_id: string): Customer | null {
    const inEnvironment = (environment: Environment) =>
      find.get(customerId(app_id, environment, original_transaction_id))
    return inEnvironment('production') ?? inEnvironment('sandbox') ?? null
  }

  /** Every lineage of the customer with this canonical id. */
  const lineages = (canonical_id: string): Customer[] => byCanonicalId.all(canonical_id)

  return { identify, resolve, findByLineage, lineages }
}

/** The customer id (`cus_…`) of a lineage, derived from Apple's ids. A customer of several lineages has several. */
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
