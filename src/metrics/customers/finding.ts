/** Answers a search for customers with pages in the requested order. */
import type { Store } from '../../store/store.ts'
import { filteredStatus } from './customer_summary.ts'
import type { openExpiring } from './expiring.ts'
import { byValueDescending, type CustomerPage, type Listing } from './lists.ts'
import type { openSearch } from './search.ts'
import { attributeIn, partIn, type UserQuery } from './user_queries.ts'
import { openUserSearch } from './user_search.ts'
import type { CustomerValue } from './value_statements.ts'
import type { CustomerValues } from './values.ts'

/** The maximum number of customers that a search by id returns. */
const MAX_MATCHES = 500

type Deps = {
  store: Store
  search: ReturnType<typeof openSearch>
  values: CustomerValues
  expiring: ReturnType<typeof openExpiring>
  /** The attribute that names a user. */
  nameAttribute: () => string
}

export function openFinding({ store, search, values, expiring, nameAttribute }: Deps) {
  const amongUsers = openUserSearch(store, search)

  /**
   * Finds the customers that match a query. The first page has the matches of an id of any kind or of its beginning. It
   * and the following pages have the customers whose user id, e-mail or name contains the text, in the order of the users.
   * `attribute:key=value` returns pages in the order of the users. Each page is in the requested order.
   *
   * @throws Refusal 400 `invalid_request` for a malformed cursor.
   */
  async function find(query: string, listing: Listing): Promise<CustomerPage> {
    const attribute = attributeIn(query)
    if (attribute !== null) return findAmongUsers({ attribute }, listing)
    const matches = search.byId(query, listing.scopes).slice(0, MAX_MATCHES)
    const first = listing.cursor === null ? inOrder(filterListed(matches, listing), listing) : []
    const text = partIn(query)
    if (text === null) return { customers: first, next: null }
    const page = await findAmongUsers({ text, name_attribute: nameAttribute() }, listing)
    const others = page.customers.filter(({ id }) => !matches.includes(id))
    return { customers: [...first, ...inOrder(others, listing)], next: page.next }
  }

  async function findAmongUsers(userQuery: UserQuery, listing: Listing): Promise<CustomerPage> {
    const after = /^\d{1,15}$/.test(listing.cursor ?? '') ? Number(listing.cursor) : 0
    const { limit, scopes } = listing
    const { ids: customerIds, next } = await amongUsers(userQuery, scopes, { after, limit })
    return { customers: filterListed(customerIds, listing), next: next === null ? null : String(next) }
  }

  const inOrder = (found: CustomerValue[], { sort }: Listing): CustomerValue[] =>
    sort === 'ends' ? found : found.sort(byValueDescending(sort))

  function filterListed(
    customerIds: readonly string[],
    { scopes, status, sort, within_days }: Listing,
  ): CustomerValue[] {
    const within = new Set(scopes.map(values.shownScopeId))
    const found = customerIds
      .flatMap((id) => values.findByCanonicalId(id) ?? [])
      .filter(({ scope_id }) => within.has(scope_id))
      .filter((one) => status === null || one.status === filteredStatus(status))
    return sort === 'ends' ? expiring.filterExpiring(found, { within_days }) : found
  }

  return find
}
