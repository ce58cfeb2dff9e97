/** The exported tables of Apple’s daily reports. A day’s rows are those of its current report. */
import { type Column, columnsOf, type ExportTable, integer, text } from './table.ts'

// The columns of the tables, by the aliases of `from`.
const a = columnsOf('a')
const d = columnsOf('d')
const r = columnsOf('r')

const from = (table: string): string => `main.${table} d
    join main.reports r on r.id = d.report_id and r.state = 'current'
    join main.reported_apps a on a.id = d.reported_app_id`

/** The columns that the rows of every report have. */
const COMMON: readonly Column[] = [
  d.integer('report_id', 'The report'),
  d.integer('line', 'The line of the report'),
  r.text('organization_id', 'The organization'),
  r.text('vendor_number', 'The vendor number'),
  r.text('day_on', 'The Pacific day'),
  a.text('app_id', 'The app; null until it is connected'),
  integer('app_apple_id', 'a.apple_id', 'Apple’s id of the app'),
  text('app_sku', 'a.sku', 'The SKU of the app'),
]

/** A column of the row itself, under its own name. */
const t = (name: string, about: string): Column => text(name, `d.${name}`, about)
const i = (name: string, about: string): Column => integer(name, `d.${name}`, about)

const SUBSCRIPTION = [
  t('subscription_apple_id', 'Apple’s number of the subscription'),
  t('subscription_name', 'Its name'),
  t('group_id', 'Its group'),
] as const
const ASIDE = [
  t('preserved_pricing', 'Whether the price is preserved'),
  t('proceeds_reason', 'Why the proceeds differ from the usual rate'),
  t('client', 'The client'),
  t('device', 'The device'),
] as const

const table = (
  { name, base, about }: { name: string; base: string; about: string },
  columns: readonly Column[],
): ExportTable => ({
  name,
  about,
  from: from(base),
  where: null,
  columns: [...COMMON, ...columns],
  key: ['report_id', 'line'],
  page: ['d.report_id', 'd.line'],
  app: 'a.app_id',
  organization: 'r.organization_id',
  tracking: { kind: 'logged', source: 'reports', key: ['report_id'] },
})

const sales = table(
  {
    name: 'report_sales',
    base: 'sales_days',
    about: 'Apple’s daily report of sales. A refund has negative units.',
  },
  [
    t('class', 'What the row is, by its product type: `subscription`, `purchase`, `app` or other'),
    t('product_type', 'Apple’s product type identifier'),
    t('sku', 'The product id'),
    t('apple_id', 'Apple’s number of the product'),
    t('title', 'The title'),
    t('country', 'The storefront, a code of two letters'),
    i('units', 'The number of items'),
    i('price_milli', 'The price of one item, in thousandths of `currency`'),
    t('currency', 'The currency of the price'),
    i('gross_milli', 'The price of the row, with its sign'),
    i('unit_proceeds_milli', 'The proceeds of one item, in thousandths of `proceeds_currency`'),
    i('proceeds_milli', 'The proceeds of the row, with its sign'),
    t('proceeds_currency', 'The currency of the proceeds'),
    t('subscription', '`New` or `Renewal`, for a subscription'),
    t('period', 'The duration of the period'),
    t('order_type', 'The type of the offer'),
    t('promo_code', 'The promotional code'),
    ...ASIDE,
    t('cmb', 'Whether it belongs to a bundle'),
  ],
)

const subscriptions = table(
  {
    name: 'report_subscriptions',
    base: 'subscription_days',
    about: 'Apple’s daily report of subscriptions: how many there are at the end of the day, by kind.',
  },
  [
    ...SUBSCRIPTION,
    t('duration', 'The duration of a period'),
    t('offer_name', 'The name of the offer'),
    t('offer_id', 'The id of the offer'),
    i('price_milli', 'The price, in thousandths of `currency`'),
    t('currency', 'The currency of the price'),
    i('proceeds_milli', 'The proceeds, in thousandths of `proceeds_currency`'),
    t('proceeds_currency', 'The currency of the proceeds'),
    ...ASIDE,
    t('state', 'The state of the country'),
    t('country', 'The storefront, a code of two letters'),
    i('active_standard', 'Paid at the standard price'),
    i('intro_free_trial', 'In a free introductory offer'),
    i('intro_pay_up_front', 'In an introductory offer paid up front'),
    i('intro_pay_as_you_go', 'In an introductory offer paid as you go'),
    i('promotional_free_trial', 'In a free promotional offer'),
    i('promotional_pay_up_front', 'In a promotional offer paid up front'),
    i('promotional_pay_as_you_go', 'In a promotional offer paid as you go'),
    i('offer_code_free_trial', 'Free by an offer code'),
    i('offer_code_pay_up_front', 'By an offer code paid up front'),
    i('offer_code_pay_as_you_go', 'By an offer code paid as you go'),
    i('win_back_free_trial', 'In a free win-back offer'),
    i('win_back_pay_up_front', 'In a win-back offer paid up front'),
    i('win_back_pay_as_you_go', 'In a win-back offer paid as you go'),
    i('marketing_opt_ins', 'Customers who agreed to marketing'),
    i('billing_retry', 'In billing retry'),
    i('grace_period', 'In a grace period'),
    i('subscribers', 'The number of subscribers'),
  ],
)

const events = table(
  {
    name: 'report_subscription_events',
    base: 'subscription_event_days',
    about: 'Apple’s daily report of subscription events, each of which happened `quantity` times.',
  },
  [
    t('event_on', 'The day of the event'),
    t('event', 'Apple’s name of the event'),
    t('class', 'What Windfall counts it as'),
    ...SUBSCRIPTION,
    t('duration', 'The duration of a period'),
    t('offer_type', 'The type of the offer'),
    t('offer_duration', 'The duration of the offer'),
    t('offer_name', 'The name of the offer'),
    t('offer_id', 'The id of the offer'),
    t('marketing_opt_in', 'Whether the customer agreed to marketing'),
    t('marketing_opt_in_duration', 'For how long'),
    ...ASIDE,
    i('consecutive_paid_periods', 'The number of periods paid in a row'),
    t('original_start_on', 'The day on which the subscription began'),
    t('state', 'The state of the country'),
    t('country', 'The storefront, a code of two letters'),
    t('previous_subscription_apple_id', 'Apple’s number of the previous subscription'),
    t('previous_subscription_name', 'Its name'),
    i('days_before_canceling', 'The days until the cancellation'),
    t('cancellation_reason', 'Apple’s reason of the cancellation'),
    i('days_canceled', 'The days since the cancellation'),
    i('quantity', 'How often it happened'),
    i('paid_service_days_recovered', 'The days recovered by a grace period'),
  ],
)

export const REPORT_TABLES = [sales, subscriptions, events]
