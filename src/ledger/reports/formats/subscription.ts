/** Parses Apple's SUBSCRIPTION report (summary, daily): the subscriptions at the end of a day. */
import { column, type LineReader, optional, type TableFormat } from './tsv.ts'

/**
 * The number of subscriptions at the end of one day, for one price, country, device and region. `price_milli` is what a
 * customer pays for a period. `proceeds_milli` is what the developer receives, unknown if `proceeds_currency` is null.
 * Counts that this version of the report does not have are 0, and `subscribers` is null. `state` is a region of the
 * country; `duration` is like `1 Month`.
 */
export type SubscriptionRow = {
  line: number
  app: { apple_id: number; name: string | null }
  subscription_apple_id: string
  subscription_name: string | null
  group_id: string | null
  duration: string
  offer_name: string | null
  offer_id: string | null
  price_milli: number | null
  currency: string | null
  proceeds_milli: number | null
  proceeds_currency: string | null
  preserved_pricing: string | null
  proceeds_reason: string | null
  client: string | null
  device: string | null
  state: string | null
  country: string
  active_standard: number
  intro_free_trial: number
  intro_pay_up_front: number
  intro_pay_as_you_go: number
  promotional_free_trial: number
  promotional_pay_up_front: number
  promotional_pay_as_you_go: number
  offer_code_free_trial: number
  offer_code_pay_up_front: number
  offer_code_pay_as_you_go: number
  win_back_free_trial: number
  win_back_pay_up_front: number
  win_back_pay_as_you_go: number
  marketing_opt_ins: number
  billing_retry: number
  grace_period: number
  subscribers: number | null
}

const columns = {
  app_name: optional('App Name'),
  app_apple_id: column('App Apple ID'),
  name: optional('Subscription Name'),
  apple_id: column('Subscription Apple ID'),
  group: optional('Subscription Group ID'),
  duration: column('Standard Subscription Duration'),
  offer_name: optional('Subscription Offer Name', 'Promotional Offer Name'),
  offer_id: optional('Promotional Offer ID'),
  price: column('Customer Price'),
  currency: column('Customer Currency'),
  proceeds: column('Developer Proceeds'),
  proceeds_currency: column('Proceeds Currency', 'Currency of Proceeds'),
  preserved_pricing: optional('Preserved Pricing'),
  proceeds_reason: optional('Proceeds Reason'),
  client: optional('Client'),
  device: optional('Device'),
  state: optional('State'),
  country: column('Country', 'Country Code'),
  standard: column('Active Standard Price Subscriptions'),
  intro_free: column('Active Free Trial Introductory Offer Subscriptions'),
  intro_up_front: column('Active Pay Up Front Introductory Offer Subscriptions'),
  intro_as_you_go: column('Active Pay As You Go Introductory Offer Subscriptions'),
  promo_free: optional('Free Trial Promotional Offer Subscriptions'),
  promo_up_front: optional('Pay Up Front Promotional Offer Subscriptions'),
  promo_as_you_go: optional('Pay As You Go Promotional Offer Subscriptions'),
  code_free: optional('Free Trial Offer Code Subscriptions'),
  code_up_front: optional('Pay Up Front Offer Code Subscriptions'),
  code_as_you_go: optional('Pay As You Go Offer Code Subscriptions'),
  back_free: optional('Free Trial Win-back Offers', 'Free Trial Win-back Offer Subscriptions'),
  back_up_front: optional('Pay Up Front Win-back Offers', 'Pay Up Front Win-back Offer Subscriptions'),
  back_as_you_go: optional('Pay As You Go Win-back Offers', 'Pay As You Go Win-back Offer Subscriptions'),
  opt_ins: optional('Marketing Opt-Ins'),
  billing_retry: optional('Billing Retry'),
  grace_period: optional('Grace Period'),
  subscribers: optional('Subscribers', 'Subscribers Raw'),
}
type Name = keyof typeof columns

/** The format of the report. It has no date column: the report is of the requested day. */
export const subscriptionTable: TableFormat<Name, SubscriptionRow> = {
  columns,
  ignored_columns: [],
  rowOf: (line) => ({
    line: line.number(),
    app: { apple_id: line.whole('app_apple_id'), name: line.text('app_name') },
    subscription_apple_id: line.required('apple_id'),
    subscription_name: line.text('name'),
    group_id: line.text('group'),
    duration: line.required('duration'),
    offer_name: line.text('offer_name'),
    offer_id: line.text('offer_id'),
    price_milli: line.milli('price'),
    currency: priceCurrencyOf(line),
    proceeds_milli: line.milli('proceeds'),
    proceeds_currency: line.text('proceeds_currency'),
    preserved_pricing: line.text('preserved_pricing'),
    proceeds_reason: line.text('proceeds_reason'),
    client: line.text('client'),
    device: line.text('device'),
    state: line.text('state'),
    country: line.required('country'),
    active_standard: line.count('standard'),
    intro_free_trial: line.count('intro_free'),
    intro_pay_up_front: line.count('intro_up_front'),
    intro_pay_as_you_go: line.count('intro_as_you_go'),
    promotional_free_trial: line.count('promo_free'),
    promotional_pay_up_front: line.count('promo_up_front'),
    promotional_pay_as_you_go: line.count('promo_as_you_go'),
    offer_code_free_trial: line.count('code_free'),
    offer_code_pay_up_front: line.count('code_up_front'),
    offer_code_pay_as_you_go: line.count('code_as_you_go'),
    win_back_free_trial: line.count('back_free'),
    win_back_pay_up_front: line.count('back_up_front'),
    win_back_pay_as_you_go: line.count('back_as_you_go'),
    marketing_opt_ins: line.count('opt_ins'),
    billing_retry: line.count('billing_retry'),
    grace_period: line.count('grace_period'),
    subscribers: line.wholeOrNull('subscribers'),
  }),
}

/** The currency of the price. A price requires it, because MRR is computed from the price. */
function priceCurrencyOf(line: LineReader<Name>): string | null {
  const currency = line.text('currency')
  if (currency === null && (line.milli('price') ?? 0) !== 0)
    throw line.fault('currency', 'is blank but has an amount')
  return currency
}
