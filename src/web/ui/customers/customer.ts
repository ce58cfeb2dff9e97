/** Labels for a customer: status, next date and months paid. */
import type { InferOutput } from 'valibot'
import type { CustomerAnswer } from '../../../api/customers/answers.ts'
import type { App } from '../apps.ts'
import type { Tone } from '../events/event_labels.ts'
import type { Query } from '../http.ts'
import type { Scope } from '../scope.ts'
import { date, times as number } from '../words.ts'

export type Customer = InferOutput<typeof CustomerAnswer>
export type Status = NonNullable<Customer['status']>

export const STATUS_LABELS: Record<Status, { title: string; tone: Tone | 'accent' }> = {
  renewing: { title: 'Renewing', tone: 'good' },
  committed: { title: 'Committed', tone: 'good' },
  trial: { title: 'In trial', tone: 'accent' },
  will_cancel: { title: 'Canceling', tone: 'warn' },
  grace: { title: 'Grace period', tone: 'warn' },
  billing_retry: { title: 'Billing retry', tone: 'bad' },
  expired: { title: 'Expired', tone: 'quiet' },
  refunded: { title: 'Refunded', tone: 'bad' },
}
const ONE_TIME = { title: 'One-time', tone: 'quiet' } as const

/** The statuses that the list can be limited to. */
export type StatusFilter = Status | 'one_time'
export const STATUS_FILTERS: readonly (readonly [StatusFilter, string])[] = [
  ...Object.entries(STATUS_LABELS).map(([status, { title }]) => [status as Status, title] as const),
  ['one_time', ONE_TIME.title],
]

/** The number of days that "this week" covers. */
export const WEEK = '7'

/** The status label. Customers without a subscription have one-time purchases. */
export const statusLabel = (status: Customer['status']): { title: string; tone: Tone | 'accent' } =>
  status === null ? ONE_TIME : STATUS_LABELS[status]

/** When the customer’s subscription ends or renews; empty if neither is known. */
export function nextDateText({ status, next_renewal_at, ends_at }: Customer): string {
  if (ends_at !== null) return `ends ${date(ends_at)}`
  if (next_renewal_at === null) return ''
  return `${status === 'trial' ? 'pays' : 'renews'} ${date(next_renewal_at)}`
}

const paidMonths = ({ months_paid }: Customer): number => Math.round(months_paid * 10) / 10
/** The number of paid months: `22`, `0.2`. */
export const monthsPaid = (customer: Customer): string => number(paidMonths(customer))
export const monthsPaidUnit = (customer: Customer): string =>
  paidMonths(customer) === 1 ? 'month' : 'months'

/** The query of a scope. The endpoint filters by app only, so an organization is expanded to its apps. */
export function customerScopeQuery(
  { apps: chosen, organization, environment }: Scope,
  apps: readonly App[],
): Query {
  const appIds =
    chosen.length > 0 || organization === null
      ? chosen
      : apps.filter((app) => app.organization_id === organization).map(({ id }) => id)
  return { app: appIds.join(','), environment: environment === 'production' ? null : environment }
}
