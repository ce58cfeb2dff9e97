/** The profile of a customer. */
import '../loading/event_views.ts'
import type { JSX } from 'preact'
import { useRoute } from 'preact-iso/router'
import { useApps } from '../apps.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { lateDialog } from '../loading/late.tsx'
import { useNow } from '../now.ts'
import { BackLink } from '../parts/back_link.tsx'
import { Copy } from '../parts/copy.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { useQuery } from '../queries.ts'
import { ANY, displayQuery, useQueryParams, useScope } from '../scope.ts'
import { Headline } from './profile/headline.tsx'
import { Identity } from './profile/identity.tsx'
import type { Profile as Answer } from './profile/profile_answer.ts'
import { Purchases } from './profile/purchases.tsx'
import { Timeline } from './profile/timeline.tsx'
import { SECTIONS } from './profile/timeline_items.ts'

const PARAMS = { story: SECTIONS, evidence: ['1'], event: ANY }

const EventDialog = lateDialog('Event', () =>
  import('../events/event_dialog.tsx').then((module) => module.EventDialog),
)
const EvidenceDialog = lateDialog('Signed evidence', () =>
  import('../evidence/evidence_dialog.tsx').then((module) => module.EvidenceDialog),
)

export function Profile(): JSX.Element {
  const { params } = useRoute()
  const { scope } = useScope()
  const id = params.id ?? ''
  const result = useQuery<Answer>(`/api/v1/customers/${encodeURIComponent(id)}`, displayQuery(scope), {
    interval_ms: 60_000,
  })
  return (
    <>
      <ScopeBar parts="amounts" />
      <main class="page" id="content">
        <UnusedNotice params={PARAMS} />
        <BackLink to="/customers" title="Customers" />
        {result.problem?.status === 404 && !result.data ? (
          <ProfileNotFound id={id} />
        ) : (
          <QueryView result={result} height={900}>
            {(profile) => <ProfileContent key={profile.customer.id} profile={profile} />}
          </QueryView>
        )}
      </main>
    </>
  )
}

const ProfileNotFound = ({ id }: { id: string }): JSX.Element => (
  <>
    <Title>Customer</Title>
    <section class="card">
      <h2 class="spoken">Not found</h2>
      <Empty icon="search" title="Customer not found">
        <p>No customer has this id:</p>
        <Copy text={id} label="id" />
      </Empty>
    </section>
  </>
)

function ProfileContent({ profile }: { profile: Answer }): JSX.Element {
  const now = useNow()
  const [params, change] = useQueryParams()
  const apps = useApps().data?.apps
  const { customer } = profile
  const bundle_id = apps?.find((app) => app.id === customer.app_id)?.bundle_id
  return (
    <div class="profile">
      <Headline profile={profile} now={now} bundle={bundle_id} onEvidence={() => change({ evidence: 1 })} />
      <div class="profile-columns">
        <div class="profile-column">
          <Purchases profile={profile} now={now} bundle={bundle_id} />
          <Timeline profile={profile} now={now} bundle={bundle_id} />
        </div>
        <div class="profile-column">
          <Identity {...profile} />
          <Ids profile={profile} />
        </div>
      </div>
      {params.evidence && (
        <EvidenceDialog customer={customer.id} onClose={() => change({ evidence: null })} />
      )}
      {params.event && <EventDialog id={params.event} onClose={() => change({ event: null })} />}
    </div>
  )
}

/** The ids of a customer. */
const Ids = ({ profile: { customer } }: { profile: Answer }): JSX.Element => (
  <section class="card card-pad stack-s profile-ids">
    <h2>IDs</h2>
    <dl class="facts">
      <dt>Customer</dt>
      <dd class="mono tiny">{customer.id}</dd>
      <dt>Original transactions</dt>
      <dd class="mono tiny">{customer.original_transaction_ids.join(', ')}</dd>
    </dl>
  </section>
)
