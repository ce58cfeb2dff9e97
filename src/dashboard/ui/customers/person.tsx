/** A person by name: the user id with its label, or that nobody said who it is. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { type Customer, standingOf } from './customer.ts'

export const Verified = ({ isVerified }: { isVerified: boolean }): JSX.Element =>
  isVerified ? (
    <span class="badge good">
      <Icon name="verified" /> Verified
    </span>
  ) : (
    <span class="badge">Unverified</span>
  )

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
        <span class="mark good" title="Verified: Apple’s signature over the purchase came with this user id">
          <Icon name="verified" />
          <span class="spoken">verified</span>
        </span>
      )}
      {ids.length > 1 && <span class="badge">+{ids.length - 1}</span>}
    </span>
  )
}

export function Standing({ status }: { status: Customer['status'] }): JSX.Element {
  const { title, mood } = standingOf(status)
  return <span class={`badge ${mood}`}>{title}</span>
}
