/** Who buys: found by any id, in order of what they are worth. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { CustomersAnswer } from '../../../api/customers/answers.ts'
import { appName, useApps } from '../apps.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { addressOf, type Query } from '../http.ts'
import { useNow } from '../now.ts'
import { type Paged, usePages } from '../pages.ts'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icons.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { useOwnWords, useScope } from '../scope.ts'
import { customersOf, WEEK } from './customer.ts'
import { List } from './list.tsx'
import { Search, type Wanted, wantedIn } from './search.tsx'

type Answer = InferOutput<typeof CustomersAnswer>

export function Customers(): JSX.Element {
  const { scope } = useScope()
  const [words] = useOwnWords()
  const apps = useApps()
  const wanted = wantedIn(words)
  const query: Query = {
    ...customersOf(scope, apps.data?.apps ?? []),
    query: wanted.query,
    sort: wanted.sort === 'ltv' ? null : wanted.sort,
    status: wanted.status,
    within_days: wanted.isThisWeek ? WEEK : null,
  }
  const paged = usePages<Answer>(
    '/api/v1/customers',
    query,
    'cursor',
    scope.organization !== null && !apps.data,
  )
  return (
    <>
      <ScopeBar parts="place" />
      <main class="page" id="content">
        <header class="page-head">
          <h1>Customers</h1>
          <a class="button plain" href={addressOf('/api/v1/customers.csv', query)} download>
            <Icon name="download" /> CSV
          </a>
        </header>
        <Search wanted={wanted} />
        <Found paged={paged} wanted={wanted} />
      </main>
    </>
  )
}

function Found({ paged, wanted }: { paged: Paged<Answer>; wanted: Wanted }): JSX.Element {
  const apps = useApps().data?.apps ?? []
  const now = useNow()
  const known = new Map(paged.pages.flatMap((page) => page.customers).map((one) => [one.id, one]))
  return (
    <section class="card">
      <h2 class="spoken">Customers found</h2>
      <Loaded asked={paged.first} height={640}>
        {() =>
          known.size === 0 && paged.more === null ? (
            <Nobody wanted={wanted} />
          ) : (
            <List
              customers={[...known.values()]}
              apps={apps}
              now={now}
              isBySeen={wanted.sort === 'last_seen'}
            />
          )
        }
      </Loaded>
      <ShowMore {...paged} />
    </section>
  )
}

const UNDERSTOOD: [string, string][] = [
  ['A user id', 'as your app or backend gave it to identify or attribute'],
  ['An original transaction id', 'or any transaction id, as in Apple’s receipts'],
  ['A customer id', 'cus_…, as in events and webhooks'],
  ['An appAccountToken', 'the UUID that the app gave with the purchase'],
  ['attribute:plan=pro', 'everybody whose attribute has exactly that value'],
]

/** What the search understands. */
const Understood = (): JSX.Element => (
  <dl class="facts understood">
    {UNDERSTOOD.map(([what, about]) => (
      <div key={what}>
        <dt>{what}</dt>
        <dd>{about}</dd>
      </div>
    ))}
  </dl>
)

function Nobody({ wanted }: { wanted: Wanted }): JSX.Element {
  const { scope } = useScope()
  const [, change] = useOwnWords()
  const apps = useApps().data?.apps ?? []
  if (wanted.sort === 'ends' && wanted.query === '')
    return (
      <Empty
        icon="check"
        title={wanted.isThisWeek ? 'Nobody is lost this week' : 'Nobody is about to be lost'}
      >
        <p>No subscription ends{wanted.isThisWeek && ' in the next seven days'} that is not to renew.</p>
      </Empty>
    )
  if (wanted.query === '' && wanted.status === null && scope.apps.length === 0)
    return (
      <Empty icon="customers" title="No customers yet">
        <p>They come with Apple’s first notification, and with the history that Apple still shows.</p>
        {apps.length === 0 && <Copy text="npm run -s windfall -- connect" label="command" />}
      </Empty>
    )
  const where = [
    scope.environment,
    ...(scope.apps.length === 0 ? ['all apps'] : scope.apps.map((id) => appName(apps, id))),
  ].join(', ')
  return (
    <Empty icon="search" title={wanted.query === '' ? 'Nobody stands so now' : 'Nobody is found by that'}>
      <p>Searched in {where}. Ids are compared whole, as they are written.</p>
      {wanted.query !== '' && <Understood />}
      {wanted.status !== null && (
        <button type="button" class="button" onClick={() => change({ status: null })}>
          Whatever their status
        </button>
      )}
    </Empty>
  )
}
