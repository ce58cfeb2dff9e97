/** A customer's user id with its verification badge, or "Not identified". */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { type Customer, statusLabel } from './customer.ts'

/** The verification badge: `verified` of `total` purchases are verified. */
export function Verified({ verified, total }: { verified: number; total: number }): JSX.Element {
  if (verified === 0 || total === 0) return <span class="badge">Unverified</span>
  return (
    <span class={verified < total ? 'badge warn' : 'badge good'}>
      <Icon name="verified" /> {verified < total ? `${verified} of ${total} verified` : 'Verified'}
    </span>
  )
}

/** The first user id, with a mark if it is verified, and the number of the other user ids. */
export function Person({ customer }: { customer: Customer }): JSX.Element {
  const { app_user_ids: ids, verified_app_user_ids: verified } = customer
  const [first] = ids
  if (first === undefined) return <span class="person-name quiet">Not identified</span>
  return (
    <span class="person-name">
      <span class="cut" title={first}>
        {first}
      </span>
      {verified.includes(first) && (
        <span class="mark good" title="Verified: Apple’s signed transaction came with this user id">
          <Icon name="verified" />
          <span class="spoken">verified</span>
        </span>
      )}
      {ids.length > 1 && <span class="badge">+{ids.length - 1}</span>}
    </span>
  )
}

export function StatusBadge({ status }: { status: Customer['status'] }): JSX.Element {
  const { title, tone } = statusLabel(status)
  return <span class={`badge ${tone}`}>{title}</span>
}
