/** A customer in a few words: who, how they stand, what comes next. */
import type { InferOutput } from 'valibot'
import type { CustomerAnswer } from '../../../api/customers/answers.ts'
import type { App } from '../apps.ts'
import type { Tone } from '../events/event_labels.ts'
import type { Query } from '../http.ts'
import type { Scope } from '../scope.ts'
import { date, times as number } from '../words.ts'

export type Customer = InferOutput<typeof CustomerAnswer>
export type Status = NonNullable<Customer['status']>

export const STATUS_WORDS: Record<Status, { title: string; tone: Tone | 'accent' }> = {
  renewing: { title: 'Renewing', tone: 'good' },
  committed: { title: 'Committed', tone: 'good' },
  trial: { title: 'In trial', tone: 'accent' },
  will_cancel: { title: 'Canceling', tone: 'warn' },
  grace: { title: 'Grace period', tone: 'warn' },
  billing_retry: { title: 'Billing retry', tone: 'bad' },
  expired: { title: 'Expired', tone: 'quiet' },
}
const ONE_TIME = { title: 'One-time', tone: 'quiet' } as const

/** Within how many days a subscription ends that ends this week. */
export const WEEK = '7'

/** How they stand; who never subscribed bought something once. */
export const statusLabel = (status: Customer['status']): { title: string; tone: Tone | 'accent' } =>
  status === null ? ONE_TIME : STATUS_WORDS[status]

/** What comes next, in a list; empty where nothing does. */
export function nextIn({ status, next_renewal_at, ends_at }: Customer): string {
  if (ends_at !== null) return `ends ${date(ends_at)}`
  if (next_renewal_at === null) return ''
  return `${status === 'trial' ? 'pays' : 'renews'} ${date(next_renewal_at)}`
}

const paidMonths = ({ months_paid }: Customer): number => Math.round(months_paid * 10) / 10
/** For how many months was paid: `22`, `0.2`. */
export const monthsPaid = (customer: Customer): string => number(paidMonths(customer))
export const unitPaid = (customer: Customer): string => (paidMonths(customer) === 1 ? 'month' : 'months')

/** Whose customers: apps by their ids, since the list knows no organizations. */
export function customersOf({ apps: chosen, organization, environment }: Scope, apps: readonly App[]): Query {
  const own =
    chosen.length > 0 || organization === null
      ? chosen
      : apps.filter((app) => app.organization_id === organization).map(({ id }) => id)
  return { app: own.join(','), environment: environment === 'production' ? null : environment }
}
