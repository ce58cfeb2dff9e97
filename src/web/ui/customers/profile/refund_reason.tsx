/** The reason of a refund, which Apple sends with the transaction or with the customer’s request, not with the event. */
import type { JSX } from 'preact'
import type { FeedEvent } from '../../events/feed_event.ts'
import { useQuery } from '../../queries.ts'
import { REASONS } from '../../revenue/refund_table.tsx'
import type { Profile } from './profile_answer.ts'

/** Whether an event reports a refund. */
export const isRefund = ({ type }: FeedEvent): boolean =>
  type === 'subscription.refunded' || type === 'purchase.refunded'

/** The reason of the refund that an event reports; null if the refund was reversed since. */
function refundReason({ data }: FeedEvent, { transactions }: Pick<Profile, 'transactions'>): string | null {
  const id = data.transaction?.transaction_id
  const refunded = transactions.find((one) => one.transaction_id === id)?.refunded
  return refunded ? REASONS[refunded.reason] : null
}

type TextProps = { event: FeedEvent; profile: Profile }
export function RefundReasonText({ event, profile }: TextProps): JSX.Element | null {
  const reason = refundReason(event, profile)
  return reason === null ? null : <span>Reason: {reason}</span>
}

/** The line of an event’s facts. */
export function RefundReasonFact({ event }: { event: FeedEvent }): JSX.Element | null {
  const path = `/api/v1/customers/${encodeURIComponent(event.customer_id ?? '')}`
  const { data } = useQuery<Profile>(path, {}, { wait: event.customer_id === null })
  const reason = data ? refundReason(event, data) : null
  return reason === null ? null : (
    <>
      <dt>Reason</dt>
      <dd>{reason}</dd>
    </>
  )
}
