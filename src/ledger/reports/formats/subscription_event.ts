/** Parses Apple's SUBSCRIPTION_EVENT report (summary, daily): numbers of subscription events, without amounts. */
import { type EventClass, eventClassOf } from './event_names.ts'
import { column, optional, type TableFormat } from './tsv.ts'

/** A row of the report. `event` is Apple's name, `class` its classification, `quantity` the number of such events. */
export type SubscriptionEventRow = {
  line: number
  app: { apple_id: number; name: string | null }
  event_on: string
  event: string
  class: EventClass
  subscription_apple_id: string
  subscription_name: string | null
  group_id: string | null
  duration: string | null
  offer_type: string | null
  offer_duration: string | null
  offer_name: string | null
  offer_id: string | null
  marketing_opt_in: string | null
  marketing_opt_in_duration: string | null
  preserved_pricing: string | null
  proceeds_reason: string | null
  consecutive_paid_periods: number | null
  original_start_on: string | null
  client: string | null
  device: string | null
  state: string | null
  country: string
  previous_subscription_apple_id: string | null
  previous_subscription_name: string | null
  days_before_canceling: number | null
  cancellation_reason: string | null
  days_canceled: number | null
  quantity: number
  paid_service_days_recovered: number | null
}

const columns = {
  event_on: column('Event Date'),
  event: column('Event'),
  app_name: optional('App Name'),
  app_apple_id: column('App Apple ID'),
  name: optional('Subscription Name'),
  apple_id: column('Subscription Apple ID'),
  group: optional('Subscription Group ID'),
  duration: optional('Standard Subscription Duration'),
  offer_type: optional('Subscription Offer Type', 'Promotional Offer Type'),
  offer_duration: optional('Subscription Offer Duration', 'Promotional Offer Duration'),
  opt_in: optional('Marketing Opt-In'),
  opt_in_duration: optional('Marketing Opt-In Duration'),
  preserved_pricing: optional('Preserved Pricing'),
  proceeds_reason: optional('Proceeds Reason'),
  offer_name: optional('Subscription Offer Name', 'Promotional Offer Name'),
  offer_id: optional('Promotional Offer ID'),
  paid_periods: optional('Consecutive Paid Periods'),
  started: optional('Original Start Date'),
  device: optional('Device'),
  client: optional('Client'),
  state: optional('State'),
  country: column('Country', 'Country Code'),
  previous_name: optional('Previous Subscription Name'),
  previous_apple_id: optional('Previous Subscription Apple ID'),
  days_before: optional('Days Before Canceling', 'Days Before Cancelling'),
  reason: optional('Cancellation Reason'),
  days_canceled: optional('Days Canceled', 'Days Cancelled'),
  quantity: column('Quantity'),
  recovered: optional('Paid Service Days Recovered'),
}
type Name = keyof typeof columns

/** The format of the report of `day` ('YYYY-MM-DD'). */
export const subscriptionEventTable = (day: string): TableFormat<Name, SubscriptionEventRow> => ({
  columns,
  ignored_columns: [],
  rowOf: (line) => ({
    line: line.number(),
    app: { apple_id: line.whole('app_apple_id'), name: line.text('app_name') },
    event_on: line.day('event_on') ?? day,
    event: line.required('event'),
    class: eventClassOf(line.required('event')),
    subscription_apple_id: line.required('apple_id'),
    subscription_name: line.text('name'),
    group_id: line.text('group'),
    duration: line.text('duration'),
    offer_type: line.text('offer_type'),
    offer_duration: line.text('offer_duration'),
    offer_name: line.text('offer_name'),
    offer_id: line.text('offer_id'),
    marketing_opt_in: line.text('opt_in'),
    marketing_opt_in_duration: line.text('opt_in_duration'),
    preserved_pricing: line.text('preserved_pricing'),
    proceeds_reason: line.text('proceeds_reason'),
    consecutive_paid_periods: line.wholeOrNull('paid_periods'),
    original_start_on: line.day('started'),
    client: line.text('client'),
    device: line.text('device'),
    state: line.text('state'),
    country: line.required('country'),
    previous_subscription_apple_id: line.text('previous_apple_id'),
    previous_subscription_name: line.text('previous_name'),
    days_before_canceling: line.wholeOrNull('days_before'),
    cancellation_reason: line.text('reason'),
    days_canceled: line.wholeOrNull('days_canceled'),
    quantity: line.whole('quantity'),
    paid_service_days_recovered: line.wholeOrNull('recovered'),
  }),
})
