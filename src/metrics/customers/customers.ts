/** Lists and finds customers, and reads the profile of one. */
import type { Clock } from '../../clock.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { Customer } from '../../ledger/customers.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { Metrics } from '../metrics.ts'
import type { Reported } from '../reports/reported.ts'
import type { Proceeds } from './charges.ts'
import { openExpiring } from './expiring.ts'
import { openCustomerFigures } from './figures.ts'
import { type IsErased, openHistories } from './histories.ts'
import { linkPart, openLinkedUsers } from './linked_users.ts'
import { byValueDescending, type CustomerPage, type CustomerScope, type Listing, openLists } from './lists.ts'
import { type AttributeQuery, attributeIn, openSearch } from './search.ts'
import type { CustomerValue } from './value_statements.ts'
import type { CustomerValues } from './values.ts'

type Deps = {
  store: Store
  clock: Clock
  feed: Feed
  ledger: Ledger
  metrics: Pick<Metrics, 'settingsOf' | 'ready' | 'current' | 'generations'>
  values: CustomerValues
  reported: Pick<Reported, 'proceedsInBase'>
  isErased: IsErased
}

const EVENTS_SHOWN = 50
/** The maximum of customers that one id may match. */
const MAX_FOUND = 500

/** A page of a customer’s events before a seq. */
type EventPage = { before: number | null; limit: number }

export type Customers = ReturnType<typeof openCustomers>

export function openCustomers({ store, clock, feed, ledger, metrics, values, reported, isErased }: Deps) {
  const lists = openLists(store, values.shownScope)
  const expiring = openExpiring({ store, clock, values })
  const search = openSearch(store, isErased)
  const people = openLinkedUsers(store)
  const histories = openHistories({
    store,
    settingsOf: metrics.settingsOf,
    proceedsOf: reported.proceedsInBase,
    isErased,
  })
  const eventSeqsOf = store.prepare<[string, number, number], { seq: number }>(
    `select seq from events where subject = ${bound} and seq < ${bound} order by seq desc limit ${bound}`,
  )
  const member = store.prepare<[string], Customer>('select * from customers where id = ?')

  /** The currency of an app’s figures. */
  const currencyOf = (app_id: string): string | null => metrics.settingsOf(app_id)?.currency ?? null
  const { figuresOf } = openCustomerFigures({ store, currencyOf })

  /**
   * Brings the customers with these ids up to date before all others. Resolves with whether their figures contain the
   * newest facts, after `timeout_ms` at most.
   */
  const waitUntilCurrent = (
    customerIds: readonly string[],
    { timeout_ms }: { timeout_ms: number },
  ): Promise<boolean> =>
    metrics.current(
      [...new Set(customerIds.flatMap((id) => ledger.customers.resolve(id) ?? []))].flatMap((id) =>
        values.statements.membersOf.all(id),
      ),
      timeout_ms,
    )

  /** A text that changes whenever the generations of these scopes change. */
  const generationsOf = (scopes: readonly CustomerScope[]): string =>
    scopes.map(({ app_id }) => metrics.generations.shownOf(app_id)?.id).join()

  /** The lineages of a customer, the oldest first. */
  const membersOf = (id: string): Customer[] =>
    ledger.customers
      .lineages(id)
      .sort((a, b) => firstPurchasedAt(a) - firstPurchasedAt(b) || (a.id < b.id ? -1 : 1))

  /** The fields of a customer in a list. */
  function summaryOf(value: CustomerValue) {
    const {
      generation: _,
      scope_id: __,
      lineage_id: ___,
      ends_at: ____,
      storefront,
      months_milli,
      unconverted,
      lineages,
      ...rest
    } = value
    const members = membersOf(value.id)
    const app_id = members[0]?.app_id ?? ''
    const links = people.ofPurchases(app_id, transactionsOf(members)).map(linkPart)
    return {
      ...rest,
      app_id,
      environment: members[0]?.environment ?? 'production',
      country: storefront,
      currency: currencyOf(app_id),
      ends_at: values.endOf(value),
      months_paid: months_milli / 1000,
      unconverted: unconverted === null ? null : (JSON.parse(unconverted) as Record<string, number>),
      original_transaction_ids: transactionsOf(members),
      app_user_ids: usersIn(links),
      verified_app_user_ids: usersIn(links.filter(({ verification }) => verification === 'verified')),
    }
  }

  /**
   * A page of customers in order.
   *
   * @throws Refusal 400 `invalid_request` for a cursor of another order.
   */
  async function list(listing: Listing): Promise<CustomerPage> {
    const { sort } = listing
    return sort === 'ends' ? expiring.list(listing) : lists.list({ ...listing, sort })
  }

  /**
   * The customers that match a query: an id of any kind, all on one page in the requested order, or
   * `attribute:key=value`, in pages by the order of their users.
   *
   * @throws Refusal 400 `invalid_request` for a malformed cursor.
   */
  async function find(query: string, listing: Listing): Promise<CustomerPage> {
    const attribute = attributeIn(query)
    if (attribute !== null) return findByAttribute(attribute, listing)
    const found = filterListed(search.byId(query, listing.scopes).slice(0, MAX_FOUND), listing)
    const { sort } = listing
    return { customers: sort === 'ends' ? found : found.sort(byValueDescending(sort)), next: null }
  }

  async function findByAttribute(attributeQuery: AttributeQuery, listing: Listing): Promise<CustomerPage> {
    const after = /^\d{1,15}$/.test(listing.cursor ?? '') ? Number(listing.cursor) : 0
    const { limit, scopes } = listing
    const { ids: customerIds, next } = await search.byAttribute(attributeQuery, scopes, { after, limit })
    return { customers: filterListed(customerIds, listing), next: next === null ? null : String(next) }
  }

  function filterListed(
    customerIds: readonly string[],
    { scopes, status, sort, within_days }: Listing,
  ): CustomerValue[] {
    const within = new Set(scopes.map(values.shownScope))
    const found = customerIds
      .flatMap((id) => values.findByCanonicalId(id) ?? [])
      .filter(({ scope_id }) => within.has(scope_id))
      .filter((one) => status === null || one.status === status)
    return sort === 'ends' ? expiring.filterExpiring(found, { within_days }) : found
  }

  /** The customer with an id, current or former; null for an unknown id. */
  const findById = (id: string): Customer | null => member.get(id) ?? null

  /** The profile of a customer by any of its ids; null for an unknown id. */
  function profile(id: string) {
    const canonical_id = ledger.customers.resolve(id)
    const value = canonical_id === null ? null : values.findByCanonicalId(canonical_id)
    if (value === null) return null
    const members = membersOf(value.id)
    const app_id = members[0]?.app_id ?? ''
    const links = people.ofPurchases(app_id, transactionsOf(members))
    const known = members.flatMap((one) => {
      const history = histories.of(one, clock())
      return history ? [{ one, history }] : []
    })
    const transactions = known
      .flatMap(({ history }) => history.transactions)
      .sort((a, b) => b.purchased_at - a.purchased_at)
    return {
      customer: summaryOf(value),
      lineages: known.map(({ one, history: { transactions: _, ...history } }) => ({
        id: one.id,
        original_transaction_id: one.original_transaction_id,
        original_purchased_at: one.original_purchased_at,
        ...history,
      })),
      transactions,
      proceeds: sumProceeds(transactions.flatMap((one) => one.proceeds ?? [])),
      users: usersOf(
        app_id,
        links.map(({ app_user_id }) => app_user_id),
      ),
      links: links.map(linkPart),
      link_history: people.history(links),
      events: eventsOf(members, { before: null, limit: EVENTS_SHOWN }).events,
    }
  }

  /** A customer’s events before a seq (null: the newest), newest first; null for an unknown id. */
  function events(id: string, page: EventPage) {
    const canonical_id = ledger.customers.resolve(id)
    return canonical_id === null ? null : eventsOf(membersOf(canonical_id), page)
  }

  const usersOf = (app_id: string, userIds: readonly string[]) =>
    [...new Set(userIds)].map((app_user_id) => people.user(app_id, app_user_id) ?? { app_id, app_user_id })

  /** `next` continues the list; null after the last page. */
  function eventsOf(members: readonly Customer[], { before, limit }: EventPage) {
    const app_id = members[0]?.app_id
    const seqs = transactionsOf(members)
      .flatMap((subject) => eventSeqsOf.all(subject, before ?? Number.MAX_SAFE_INTEGER, limit))
      .map(({ seq }) => seq)
      .sort((a, b) => b - a)
      .slice(0, limit)
    const pageEvents: FeedEvent[] = seqs
      .flatMap((seq) => feed.read({ after: seq - 1, until: seq, limit: 1 }))
      .filter((event) => event.app_id === app_id)
    return { events: pageEvents, next: seqs.length < limit ? null : (seqs.at(-1) ?? null) }
  }

  /** The profile of a user of an app: its links and its customers; null for an unknown user. */
  function user(app_id: string, app_user_id: string, scopes: readonly CustomerScope[]) {
    const links = people.ofUser(app_id, app_user_id)
    const row = people.user(app_id, app_user_id)
    if (row === null && links.length === 0) return null
    const appScopes = scopes.filter((scope) => scope.app_id === app_id)
    const customerIds = search.ofUser(
      app_id,
      app_user_id,
      appScopes.map(({ environment }) => environment),
    )
    return {
      ...(row ?? { app_id, app_user_id }),
      links: links.map(linkPart),
      link_history: people.history(links),
      customers: customerIds.flatMap((id) => values.findByCanonicalId(id) ?? []).map(summaryOf),
    }
  }

  const queries = { list, find, profile, events, user, findById, summaryOf, figuresOf }
  return { ...queries, values, waitUntilCurrent, generationsOf, ready: metrics.ready }
}

const firstPurchasedAt = ({ original_purchased_at }: Customer): number =>
  original_purchased_at ?? Number.MAX_SAFE_INTEGER

/** Sums the known proceeds of charges; null where none is known. */
function sumProceeds(known: readonly Proceeds[]) {
  if (known.length === 0) return null
  return {
    base_milli: known.reduce((sum, { base_milli }) => sum + base_milli, 0),
    transactions: known.length,
    estimated: known.filter(({ basis }) => basis === 'estimated').length,
  }
}

const usersIn = (links: readonly { app_user_id: string }[]): string[] => [
  ...new Set(links.map(({ app_user_id }) => app_user_id)),
]

const transactionsOf = (members: readonly Customer[]): string[] =>
  members.map(({ original_transaction_id }) => original_transaction_id)
