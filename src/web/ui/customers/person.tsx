/** A person by name: the user id with its label, or that nobody said who it is. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { type Customer, statusLabel } from './customer.ts'

/** Whether what a user claims is proved; `of` the purchases so many are, where it is not all or none. */
export function Verified({ proved, of }: { proved: number; of: number }): JSX.Element {
  if (proved === 0 || of === 0) return <span class="badge">Unverified</span>
  return (
    <span class={proved < of ? 'badge warn' : 'badge good'}>
      <Icon name="verified" /> {proved < of ? `${proved} of ${of} verified` : 'Verified'}
    </span>
  )
}

/** The first user id, and how many others; verified ones carry their mark. */
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
