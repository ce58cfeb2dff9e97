/** A customer's name or user id with its verification badge. */
import type { JSX } from 'preact'
import { anonymityOf } from '../../../attribution/anonymous.ts'
import { Initial } from '../marks/initial.tsx'
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

/** How many characters of a customer’s id name an anonymous one. */
const SHORT_ID_LENGTH = 8

/** The first user id that no SDK generated, else the first. */
export const firstUserId = (ids: readonly string[]): string | undefined =>
  ids.find((id) => anonymityOf(id) !== 'sure') ?? ids[0]

const shortId = (id: string): string => `${id.slice(0, SHORT_ID_LENGTH)}…`

type Named = Pick<Customer, 'display_name' | 'app_user_ids'>

/** Whether nothing names the customer: no attribute, and no user id but those that an SDK generated. */
export const isAnonymous = ({ display_name, app_user_ids }: Named): boolean =>
  display_name === null && app_user_ids.every((id) => anonymityOf(id) === 'sure')

/**
 * The name of a customer: an attribute of the user, else the user id, unless an SDK generated it, else the beginning of the
 * customer’s id.
 */
export const customerName = ({ id, ...named }: Named & Pick<Customer, 'id'>): string =>
  isAnonymous(named)
    ? `Anonymous · ${shortId(id)}`
    : (named.display_name ?? firstUserId(named.app_user_ids) ?? id)

type Label = 'verified' | 'unverified' | 'unverified name'

/** The label of a shown name, or of the user id where there is none. A verified user can have a name that anybody gave. */
export const labelOf = (isNameVerified: boolean | null, isUserVerified: boolean): Label => {
  if (isNameVerified ?? isUserVerified) return 'verified'
  return isUserVerified ? 'unverified name' : 'unverified'
}

type NameProps = { children: string; class?: string; title?: string; label: Label | null }

/**
 * A name that a caller reported, with a mark of its label (null: none). The direction of its script does not reorder the
 * text around it.
 */
export const ReportedName = ({ children, label, ...rest }: NameProps): JSX.Element => (
  <>
    <bdi {...rest}>{children}</bdi>{' '}
    {label !== null && (
      <span class={label === 'verified' ? 'mark good' : 'mark'} title={label}>
        <Icon name={label === 'verified' ? 'verified' : 'question'} />
        <span class="spoken">{label}</span>
      </span>
    )}
  </>
)

/** A name whose user is not known to be verified. */
export const nameLabel = (isVerified: boolean | null): Label | null =>
  isVerified === null ? null : labelOf(isVerified, true)

/** The name, with the mark of its verification, and the number of the other user ids. */
export function Person({ customer }: { customer: Customer }): JSX.Element {
  const { app_user_ids: ids, verified_app_user_ids: verified } = customer
  const first = firstUserId(ids)
  const name = customerName(customer)
  const label = labelOf(customer.display_name_verified, first !== undefined && verified.includes(first))
  const mark = <Initial name={name} id={customer.id} />
  if (first === undefined || isAnonymous(customer))
    return (
      <span class="person-name quiet">
        {mark}
        <span>
          Anonymous · <code>{shortId(customer.id)}</code>
        </span>
      </span>
    )
  return (
    <span class="person-name">
      {mark}
      <ReportedName class="cut" title={first} label={label}>
        {name}
      </ReportedName>
      {ids.length > 1 && <span class="badge">+{ids.length - 1}</span>}
    </span>
  )
}

export function StatusBadge({ status }: { status: Customer['status'] }): JSX.Element {
  const { title, tone } = statusLabel(status)
  return <span class={`badge ${tone}`}>{title}</span>
}
