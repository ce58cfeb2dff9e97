/** The customer list: search by id, sort and filter. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { CustomersAnswer } from '../../../api/customers/answers.ts'
import { MIN_PART_LENGTH } from '../../../metrics/customers/user_queries.ts'
import { appName, useApps } from '../apps.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { addressOf, type Query } from '../http.ts'
import { useNow } from '../now.ts'
import { type Paged, usePagedQuery } from '../paged_queries.ts'
import { Icon } from '../parts/icons.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { Title } from '../parts/title.tsx'
import { displayQuery, useQueryParams, useScope } from '../scope.ts'
import { ConnectLink } from '../settings/connect/connect_link.tsx'
import { type ChosenColumns, ColumnMenu, useColumns } from './columns.tsx'
import { customerScopeQuery, WEEK } from './customer.ts'
import { CustomerList } from './list.tsx'
import { type CustomerFilters, filtersFromParams, SEARCH_PARAMS, Search } from './search.tsx'

type Answer = InferOutput<typeof CustomersAnswer>

export function Customers(): JSX.Element {
  const { scope } = useScope()
  const [params] = useQueryParams()
  const apps = useApps()
  const filters = filtersFromParams(params)
  const query: Query = {
    ...customerScopeQuery(scope, apps.data?.apps ?? []),
    query: filters.query,
    sort: filters.sort === 'ltv' ? null : filters.sort,
    status: filters.status,
    label: filters.label,
    within_days: filters.isThisWeek ? WEEK : null,
    ...displayQuery(scope),
  }
  const paged = usePagedQuery<Answer>('/api/v1/customers', query, 'cursor', {
    wait: scope.organization !== null && !apps.data,
  })
  const chosen = useColumns()
  const hasCustomers = paged.pages.some(({ customers }) => customers.length > 0)
  return (
    <>
      <ScopeBar parts="amounts" />
      <main class="page" id="content">
        <UnusedNotice params={SEARCH_PARAMS} />
        <header class="page-head">
          <Title>Customers</Title>
          <a class="button plain" href={addressOf('/api/v1/customers.csv', query)} download>
            <Icon name="download" /> CSV
          </a>
        </header>
        <Search filters={filters} tools={hasCustomers && <ColumnMenu {...chosen} />} />
        <SearchResult paged={paged} filters={filters} chosen={chosen} />
      </main>
    </>
  )
}

type SearchResultProps = { paged: Paged<Answer>; filters: CustomerFilters; chosen: ChosenColumns }

function SearchResult({ paged, filters, chosen }: SearchResultProps): JSX.Element {
  const apps = useApps().data?.apps ?? []
  const now = useNow()
  const customerById = new Map(paged.pages.flatMap((page) => page.customers).map((one) => [one.id, one]))
  return (
    <section class="card">
      <h2 class="spoken">Customers found</h2>
      <QueryView result={paged.first} height={640}>
        {() =>
          customerById.size === 0 && paged.more === null ? (
            <NoCustomers filters={filters} lookup={paged.first.data?.order_lookup ?? null} />
          ) : (
            <CustomerList
              customers={[...customerById.values()]}
              apps={apps}
              now={now}
              chosen={chosen}
              sort={filters.sort}
            />
          )
        }
      </QueryView>
      <ShowMore {...paged} />
    </section>
  )
}

const QUERY_KINDS: [string, string][] = [
  ['A name or an e-mail', 'or a part of it, from the attributes of your identify calls'],
  ['A user id', 'or a part of it: the appUserId of your identify and attribute calls'],
  ['An order id', 'from the receipt that Apple sent to the customer, such as MQK4N2B7XW'],
  ['A transaction id', 'or its first six digits, as in Apple’s reports and in your app'],
  ['A customer id', 'cus_…, as in events'],
  ['An appAccountToken', 'the UUID that your app set on the purchase'],
  ['attribute:plan=pro', 'customers whose attribute has exactly this value'],
]

/** The kinds of query that the search accepts. `isShort`: the query is too short to be searched as a part. */
const QueryKinds = ({ isShort }: { isShort: boolean }): JSX.Element => (
  <>
    {isShort && <p>Parts are searched from {MIN_PART_LENGTH} characters on.</p>}
    <dl class="facts understood">
      {QUERY_KINDS.map(([what, about]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
  </>
)

function NoneFound({ query }: { query: string }): JSX.Element {
  const { href } = useScope()
  return (
    <>
      <p>
        <a href={href(`/users/${encodeURIComponent(query)}`)}>Open the user “{query}”</a>, also without a
        purchase
      </p>
      <QueryKinds isShort={query.length < MIN_PART_LENGTH} />
    </>
  )
}

type OrderLookup = NonNullable<Answer['order_lookup']>
const ORDER_LOOKUPS: Record<OrderLookup, string> = {
  found: 'Apple knows this order, but its customer is not among those searched.',
  not_found: 'Apple was asked for this order id, and knows no such order of these apps.',
  no_key:
    'This can be an order id. Apple could not be asked for it: no app has an In-App Purchase key, which Settings → Apple takes.',
  not_production: 'This can be an order id. Apple was not asked for it: order ids exist in production only.',
}

const orderLookupText = (lookup: OrderLookup | null): string => (lookup === null ? '' : ORDER_LOOKUPS[lookup])

type NoCustomersProps = { filters: CustomerFilters; lookup: OrderLookup | null }
function NoCustomers({ filters, lookup }: NoCustomersProps): JSX.Element {
  const { scope } = useScope()
  const [, change] = useQueryParams()
  const apps = useApps().data?.apps ?? []
  if (filters.sort === 'ends' && filters.query === '')
    return (
      <Empty
        icon="check"
        title={filters.isThisWeek ? 'No subscriptions end this week' : 'No subscriptions are ending'}
      >
        <p>No canceling subscription ends{filters.isThisWeek && ' in the next seven days'}.</p>
      </Empty>
    )
  const { label } = filters
  if (filters.query === '' && filters.status === null && label === null && scope.apps.length === 0)
    return (
      <Empty icon="customers" title="No customers yet">
        <p>Customers appear with Apple’s first notification and with the import of Apple’s history.</p>
        <p>A user of your identify calls appears with the first purchase; until then, the search opens it.</p>
        {apps.length === 0 && <ConnectLink />}
      </Empty>
    )
  const searchedScope = [
    scope.environment,
    ...(scope.apps.length === 0 ? ['all apps'] : scope.apps.map((id) => appName(apps, id))),
  ].join(', ')
  return (
    <Empty
      icon="search"
      title={filters.query === '' && label === null ? 'No customers with this status' : 'No customers found'}
    >
      <p>
        Searched {searchedScope}. {orderLookupText(lookup)}
      </p>
      {filters.query !== '' && <NoneFound query={filters.query} />}
      {filters.status !== null && (
        <button type="button" class="button" onClick={() => change({ status: null })}>
          Show all statuses
        </button>
      )}
      {label !== null && (
        <button type="button" class="button" onClick={() => change({ label: null })}>
          Show all labels
        </button>
      )}
    </Empty>
  )
}
