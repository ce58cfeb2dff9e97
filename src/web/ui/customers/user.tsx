/** A user by app user id. Redirects to the only customer, unless there are purchases on Google Play to count. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { type App, appName, useApps } from '../apps.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { useNow } from '../now.ts'
import { BackLink } from '../parts/back_link.tsx'
import { Card } from '../parts/card.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { useQuery } from '../queries.ts'
import { displayQuery, useScope } from '../scope.ts'
import { plural } from '../words.ts'
import { useColumns } from './columns.tsx'
import type { Customer } from './customer.ts'
import { CustomerList } from './list.tsx'
import { ForgetButton } from './profile/forget.tsx'
import { AboutUser } from './profile/identity.tsx'
import type { Link, Move, User } from './profile/profile_answer.ts'

/** The number of purchases on Google Play that are linked to a user. */
const countGoogle = ({ links }: { links: readonly Link[] }): number =>
  links.filter(({ store }) => store === 'google').length

type Answer = { users: (User & { customers: Customer[]; links: Link[]; link_history: Move[] })[] }

export function UserPage(): JSX.Element {
  const { params } = useRoute()
  const { href, scope } = useScope()
  const { route } = useLocation()
  const id = params.id ?? ''
  const result = useQuery<Answer>(`/api/v1/users/${encodeURIComponent(id)}`, displayQuery(scope))
  const users = result.isPrevious ? [] : (result.data?.users ?? [])
  const customers = users.flatMap((user) => user.customers)
  const isAll = customers.length === 1 && users.every((user) => countGoogle(user) === 0)
  const onlyCustomerId = isAll ? customers[0]?.id : undefined
  useEffect(() => {
    if (onlyCustomerId) route(href(`/customers/${onlyCustomerId}`), true)
  }, [onlyCustomerId])
  return (
    <>
      <ScopeBar parts="amounts" />
      <main class="page" id="content">
        <UnusedNotice />
        <BackLink to="/customers" title="Customers" />
        <Title class="identity-name">{id}</Title>
        {result.problem?.status === 404 && !result.data ? (
          <section class="card">
            <h2 class="spoken">Not found</h2>
            <Empty icon="search" title="User not found">
              <p>No call has named this user, or the user was erased.</p>
            </Empty>
          </section>
        ) : (
          <QueryView result={result} height={400}>
            {({ users }) => (onlyCustomerId ? null : <InApps users={users} />)}
          </QueryView>
        )}
      </main>
    </>
  )
}

function InApps({ users }: Answer): JSX.Element {
  const apps = useApps().data?.apps ?? []
  return (
    <div class="stack">
      {users.map((user) => (
        <InApp key={user.app_id} user={user} apps={apps} />
      ))}
    </div>
  )
}

function InApp({ user, apps }: { user: Answer['users'][number]; apps: App[] }): JSX.Element {
  const now = useNow()
  const google_count = countGoogle(user)
  const chosen = useColumns()
  return (
    <Card
      title={appName(apps, user.app_id)}
      tools={<ForgetButton app_id={user.app_id} app_user_id={user.app_user_id} />}
    >
      <div class="stack">
        <AboutUser user={user} />
        {user.customers.length === 0 ? (
          <p class="small quiet">No App Store purchase is linked to this user yet.</p>
        ) : (
          <CustomerList customers={user.customers} apps={apps} now={now} chosen={chosen} sort={null} />
        )}
        {google_count > 0 && (
          <p class="small quiet">
            {plural(google_count, 'Google Play purchase')} {google_count === 1 ? 'is' : 'are'} linked to this
            user.
          </p>
        )}
      </div>
    </Card>
  )
}
