/** All details of one event: facts, data and signed evidence. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { EventAnswer } from '../../../api/customers/evidence_answers.ts'
import { productName } from '../../../apps/product_name.ts'
import { nameLabel, ReportedName } from '../customers/person.tsx'
import type { Profile } from '../customers/profile/profile_answer.ts'
import { isRefund, RefundReasonFact } from '../customers/profile/refund_reason.tsx'
import { Json } from '../evidence/json.tsx'
import { Proofs, unattestedTitle } from '../evidence/proofs.tsx'
import { type EvidenceAnswer, SignedText } from '../evidence/signed_text.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { useQuery } from '../queries.ts'
import { useScope } from '../scope.ts'
import { instant, money, zonedInstant } from '../words.ts'
import { EventDeliveries } from './deliveries/event_deliveries.tsx'
import { customerValue, eventDetail } from './event_detail.ts'
import { amountOf, eventLabel, lookOf, ORIGIN_LABELS } from './event_labels.ts'
import type { FeedEvent } from './feed_event.ts'
import { MrrFact } from './mrr_effect.tsx'

type Answer = Omit<InferOutput<typeof EventAnswer>, 'event'> & { event: FeedEvent }

/** `Title` is the level of the headings: h2 on a page, h3 in a dialog, whose own title is h2. */
type Props = { id: string; Title: 'h2' | 'h3' }

export function EventDetails({ id, Title }: Props): JSX.Element {
  const result = useQuery<Answer>(`/api/v1/events/${encodeURIComponent(id)}`)
  if (result.problem?.status === 404 && !result.data)
    return (
      <Empty icon="search" title="Event not found">
        <p class="mono tiny">{id}</p>
      </Empty>
    )
  return (
    <QueryView result={result} height={420}>
      {(answer) => (
        <div class="stack">
          <Heading answer={answer} />
          <Facts answer={answer} />
          <EventDeliveries event={answer.event} Title={Title} />
          <section class="stack-s">
            <Title>Event data</Title>
            <Json value={answer.event.data} label="Event data" />
          </section>
          <Signed id={id} count={answer.evidence} Title={Title} />
        </div>
      )}
    </QueryView>
  )
}

function Heading({ answer: { event } }: { answer: Answer }): JSX.Element {
  const { title } = eventLabel(event.type)
  const { tone } = lookOf(event)
  const amount = amountOf(event)
  const { product_id, bundle_id } = event.data
  return (
    <div class="spread">
      <p class="event-title">
        <strong class={tone === 'quiet' ? '' : tone}>{title}</strong>
        {product_id && <span> · {productName(product_id, bundle_id)}</span>}
        {eventDetail(event) && <span class="quiet"> {eventDetail(event)}</span>}
      </p>
      {amount && (
        <strong class={amount.milli < 0 ? 'bad' : 'good'}>{money(amount.milli, amount.currency)}</strong>
      )}
    </div>
  )
}

function TimeFacts({ event }: { event: FeedEvent }): JSX.Element {
  const origin = ORIGIN_LABELS[event.origin]
  return (
    <>
      <dt>Effective</dt>
      <dd>
        {zonedInstant(event.occurred_at)}
        {event.occurred_at > event.recorded_at && (
          <span class="quiet"> Apple signs a renewal up to a day before it takes effect.</span>
        )}
      </dd>
      <dt>Recorded</dt>
      <dd>
        {zonedInstant(event.recorded_at)} <span class="badge">{origin.title}</span>{' '}
        <span class="quiet">{origin.about}</span>
      </dd>
    </>
  )
}

function Facts({ answer: { event, app } }: { answer: Answer }): JSX.Element {
  const { href } = useScope()
  const userId = event.data.user?.app_user_id ?? event.customer?.users[0]?.app_user_id
  return (
    <dl class="facts">
      <TimeFacts event={event} />
      <dt>App</dt>
      <dd>
        {app ? (app.name ?? app.bundle_id) : '–'}{' '}
        {event.environment === 'sandbox' && <span class="badge warn">Sandbox</span>}
      </dd>
      {event.customer_id && (
        <>
          <dt>Customer</dt>
          <dd>
            <a href={href(`/customers/${event.customer_id}`)}>
              <CustomerName id={event.customer_id} fallback={userId ?? 'Not identified'} />
            </a>{' '}
            {event.customer && (
              <span class="quiet" title={`As of ${instant(event.customer.as_of)}`}>
                {customerValue(event.customer)}
              </span>
            )}
          </dd>
        </>
      )}
      <UserFacts user={event.data.user} />
      {isRefund(event) && <RefundReasonFact event={event} />}
      <MrrFact effect={event.mrr_effect} />
      <dt>Type</dt>
      <dd>
        <code>{event.type}</code>
        {event.data.notification?.type && (
          <span class="quiet">
            {' '}
            from Apple’s{' '}
            {[event.data.notification.type, event.data.notification.subtype].filter(Boolean).join(' · ')}
          </span>
        )}
      </dd>
      <dt>Cause</dt>
      <dd class="mono tiny">{event.cause}</dd>
      {event.subject && (
        <>
          <dt>Original transaction</dt>
          <dd class="mono tiny">{event.subject}</dd>
        </>
      )}
      <dt>Event</dt>
      <dd class="mono tiny">
        {event.id}, seq {event.seq}
      </dd>
    </dl>
  )
}

/** The label of the user at the time of the event, with its proofs or the reason why there are none. */
function UserFacts({ user }: { user: FeedEvent['data']['user'] }): JSX.Element | null {
  if (!user) return null
  const isVerified = user.verification === 'verified'
  return (
    <>
      <dt>User</dt>
      <dd>
        {user.app_user_id ?? 'Erased'}{' '}
        <span class={isVerified ? 'badge good' : 'badge'}>{isVerified ? 'Verified' : 'Unverified'}</span>
      </dd>
      {user.proofs && (
        <>
          <dt>Verification</dt>
          <dd>
            <Proofs proofs={user.proofs} />
          </dd>
        </>
      )}
      {user.unattested && (
        <>
          <dt>Not attested</dt>
          <dd>{unattestedTitle(user.unattested)}</dd>
        </>
      )}
    </>
  )
}

/** The customer's name as in the list of customers, once it is known. */
function CustomerName({ id, fallback }: { id: string; fallback: string }): JSX.Element {
  const { data } = useQuery<Profile>(`/api/v1/customers/${encodeURIComponent(id)}`)
  const { display_name = null, display_name_verified = null } = data?.customer ?? {}
  return <ReportedName label={nameLabel(display_name_verified)}>{display_name ?? fallback}</ReportedName>
}

function Signed({ id, count, Title }: Props & { count: number }): JSX.Element {
  const path = `/api/v1/events/${encodeURIComponent(id)}/evidence`
  const result = useQuery<Pick<EvidenceAnswer, 'evidence'>>(path, {}, { wait: count === 0 })
  return (
    <section class="stack-s">
      <Title>Signed evidence</Title>
      {count === 0 ? (
        <p class="small quiet">No signed data. This event came from an SDK call or from Windfall itself.</p>
      ) : (
        <QueryView result={result} height={120}>
          {({ evidence }) => (
            <div class="signed-list">
              {evidence.map((one) => (
                <SignedText key={one.id} signed={one} />
              ))}
            </div>
          )}
        </QueryView>
      )}
    </section>
  )
}
