/** Lists and finds customers, and reads customer profiles. */
import type { Verification } from '../../attribution/link.ts'
import type { Clock } from '../../clock.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { Customer } from '../../ledger/customers.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { Metrics } from '../metrics.ts'
import type { NetProceeds } from './charges.ts'
import { openExpiring } from './expiring.ts'
import { openCustomerFigures } from './figures.ts'
import { openFinding } from './finding.ts'
import { type IsErased, openHistories } from './histories.ts'
import { apiLink, openLinkedUsers, type ReportedName } from './linked_users.ts'
import { type CustomerPage, type CustomerScope, type Listing, openLists } from './lists.ts'
import { openSearch } from './search.ts'
import type { CustomerValue } from './value_statements.ts'
import type { CustomerValues } from './values.ts'

type Deps = {
  store: Store
  clock: Clock
  feed: Feed
  ledger: Ledger
  metrics: Pick<Metrics, 'settingsOf' | 'ready' | 'current' | 'generations'>
  values: CustomerValues
  isErased: IsErased
  /** The attribute that names a user. */
  nameAttribute: () => string
}

const EVENTS_SHOWN = 50

type NamingUser = { app_user_id: string; verification: Verification }

/**
 * The name of a customer. It is verified if the attribute came with the secret key or from an attested device, and the user
 * who has it is verified. Both are null without a name.
 */
export type DisplayName = { display_name: string | null; display_name_verified: boolean | null }
export const NO_NAME: DisplayName = { display_name: null, display_name_verified: null }

/** Requests up to `limit` events before a seq; null: the newest events. */
type EventPage = { before: number | null; limit: number }

export type Customers = ReturnType<typeof openCustomers>

export function openCustomers({
  store,
  clock,
  feed,
  ledger,
  metrics,
  values,
  isErased,
  nameAttribute,
}: Deps) {
  const lists = openLists(store, values.shownScopeId)
  const expiring = openExpiring({ store, clock, values })
  const search = openSearch(store, isErased)
  const find = openFinding({ store, search, values, expiring, nameAttribute })
  const linkedUsers = openLinkedUsers(store)
  const histories = openHistories({ store, settingsOf: metrics.settingsOf, isErased })
  const eventSeqsOf = store.prepare<[string, number, number], { seq: number }>(
    `select seq from events where subject = ${bound} and seq < ${bound} order by seq desc limit ${bound}`,
  )
  const customerById = store.prepare<[string], Customer>('select * from customers where id = ?')

  /** The currency of an app’s figures. */
  const currencyOf = (app_id: string): string | null => metrics.settingsOf(app_id)?.currency ?? null
  const { figuresOf } = openCustomerFigures({ store, currencyOf })

  /**
   * Recomputes some customers before all others. Resolves after at most `timeout_ms`: true if their figures contain the
   * newest facts.
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

  /** A text that changes whenever the shown generations of some scopes change. */
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
      storefront,
      months_milli,
      unconverted,
      lineages,
      ...rest
    } = value
    const members = membersOf(value.id)
    const app_id = members[0]?.app_id ?? ''
    const links = linkedUsers.ofPurchases(app_id, transactionsOf(members)).map(apiLink)
    const app_user_ids = usersIn(links)
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
      ...displayNameOf(app_id, links),
      email: linkedUsers.nameOf(app_id, app_user_ids, 'email')?.name ?? null,
      app_user_ids,
      verified_app_user_ids: usersIn(links.filter(({ verification }) => verification === 'verified')),
    }
  }

  /**
   * Lists a page of customers in the requested order.
   *
   * @throws Refusal 400 `invalid_request` for a cursor of another order.
   */
  async function list(listing: Listing): Promise<CustomerPage> {
    const { sort } = listing
    return sort === 'ends' ? expiring.list(listing) : lists.list({ ...listing, sort })
  }

  /** The customer with a current or former id; null for an unknown id. */
  const findById = (id: string): Customer | null => customerById.get(id) ?? null

  /** The profile of a customer by any of its ids; null for an unknown id. */
  function profile(id: string) {
    const canonical_id = ledger.customers.resolve(id)
    const value = canonical_id === null ? null : values.findByCanonicalId(canonical_id)
    if (value === null) return null
    const members = membersOf(value.id)
    const app_id = members[0]?.app_id ?? ''
    const links = linkedUsers.ofPurchases(app_id, transactionsOf(members))
    const lineageHistories = members.flatMap((one) => {
      const history = histories.historyOf(one, clock())
      return history ? [{ one, history }] : []
    })
    const userIds = links.map(({ app_user_id }) => app_user_id)
    const transactions = lineageHistories
      .flatMap(({ history }) => history.transactions)
      .sort((a, b) => b.purchased_at - a.purchased_at)
    return {
      customer: summaryOf(value),
      lineages: lineageHistories.map(({ one, history: { transactions: _, ...history } }) => ({
        id: one.id,
        original_transaction_id: one.original_transaction_id,
        original_purchased_at: one.original_purchased_at,
        ...history,
      })),
      transactions,
      proceeds: sumProceeds(transactions, clock()),
      users: usersOf(app_id, userIds),
      links: links.map(apiLink),
      link_history: linkedUsers.history(links),
      events: eventsOf(members, { before: null, limit: EVENTS_SHOWN }).events,
    }
  }

  /** A customer’s events before a seq (null: the newest), newest first; null for an unknown id. */
  function events(id: string, page: EventPage) {
    const canonical_id = ledger.customers.resolve(id)
    return canonical_id === null ? null : eventsOf(membersOf(canonical_id), page)
  }

  const displayNameOf = (app_id: string, users: readonly NamingUser[]): DisplayName =>
    nameAmong(users, (ids) => linkedUsers.nameOf(app_id, ids, nameAttribute()))
  const usersOf = (app_id: string, userIds: readonly string[]) =>
    [...new Set(userIds)].map((id) => linkedUsers.user(app_id, id) ?? { app_id, app_user_id: id })

  /** Reads a page of events. `next` is the `before` of the following page; null after the last page. */
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

  /** The profile of a user of an app: the user’s links and customers; null for an unknown user. */
  function user(app_id: string, app_user_id: string, scopes: readonly CustomerScope[]) {
    const links = linkedUsers.ofUser(app_id, app_user_id)
    const row = linkedUsers.user(app_id, app_user_id)
    if (row === null && links.length === 0) return null
    const appScopes = scopes.filter((scope) => scope.app_id === app_id)
    const customerIds = search.ofUser(
      app_id,
      app_user_id,
      appScopes.map(({ environment }) => environment),
    )
    return {
      ...(row ?? { app_id, app_user_id }),
      links: links.map(apiLink),
      link_history: linkedUsers.history(links),
      customers: customerIds.flatMap((id) => values.findByCanonicalId(id) ?? []).map(summaryOf),
    }
  }

  const queries = { list, find, profile, events, user, findById, summaryOf, figuresOf, displayNameOf }
  return { ...queries, values, waitUntilCurrent, generationsOf, ready: metrics.ready }
}

/** The name that `find` finds for some users, with the labels of their links. */
function nameAmong(users: readonly NamingUser[], find: (ids: string[]) => ReportedName | null): DisplayName {
  const found = find(users.map(({ app_user_id }) => app_user_id))
  if (found === null) return NO_NAME
  const isLinkVerified = users.some(
    ({ app_user_id, verification }) => app_user_id === found.app_user_id && verification === 'verified',
  )
  return { display_name: found.name, display_name_verified: found.is_proved && isLinkVerified }
}

const firstPurchasedAt = ({ original_purchased_at }: Customer): number =>
  original_purchased_at ?? Number.MAX_SAFE_INTEGER

type Charged = { purchased_at: number; proceeds: NetProceeds | null }

/** Sums the known proceeds of charges up to `now`, as the other figures do; null if there are none. */
function sumProceeds(transactions: readonly Charged[], now: number) {
  const charges = transactions.flatMap((one) => (one.purchased_at <= now && one.proceeds) || [])
  if (charges.length === 0) return null
  return {
    base_milli: charges.reduce((sum, { base_milli }) => sum + base_milli, 0),
    transactions: charges.length,
    estimated: charges.filter(({ basis }) => basis === 'estimated').length,
  }
}

const usersIn = (links: readonly { app_user_id: string }[]): string[] => [
  ...new Set(links.map(({ app_user_id }) => app_user_id)),
]

const transactionsOf = (members: readonly Customer[]): string[] =>
  members.map(({ original_transaction_id }) => original_transaction_id)
