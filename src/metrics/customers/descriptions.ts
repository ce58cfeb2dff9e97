/** Describes each figure of a customer in a sentence and a formula. */
import type { Description } from '../definitions/definition.ts'

const description = (name: string, title: string, sentence: string, formula: string): Description => ({
  name,
  title,
  sentence,
  formula,
})

/** `name` is the field of a customer in the API. Money is in the organization's currency. */
export const CUSTOMER_DESCRIPTIONS: readonly Description[] = [
  description(
    'ltv_milli',
    'LTV',
    'Revenue from the customer to date.',
    'charged − refunded − prorated; zero where everything was refunded',
  ),
  description(
    'charged_milli',
    'Charged',
    'Total charged, including tax.',
    'Σ charges, each at the rate of its day',
  ),
  description(
    'refunded_milli',
    'Refunded',
    'Total refunded by Apple.',
    'Σ price × the share that Apple names, at the rate of the day of the charge',
  ),
  description(
    'prorated_milli',
    'Upgrades',
    'Estimated amount that Apple returned at upgrades. Apple does not report it.',
    'Σ price × unused time ÷ whole time, at most what refunds leave of the price, at the rate of the day of the charge',
  ),
  description(
    'proceeds_milli',
    'Proceeds',
    'What remains after tax and Apple’s commission.',
    'Σ proceeds of a charge − the same part of them as was returned of the charge, at the rate of the charge’s day. The proceeds of a charge are its price × the share that Apple’s report of that day has for this price of the product in the country, else that of an earlier report, else they are estimated: the share of another price of the product, or the price less the configured commission (proceeds_estimated: the number of such charges)',
  ),
  description(
    'payments',
    'Payments',
    'The number of charges.',
    'count of charges, including those with an unknown price',
  ),
  description(
    'unpriced',
    'Unknown price',
    'The number of charges whose price Apple has not sent.',
    'count; all sums exclude them',
  ),
  description(
    'months_paid',
    'Months paid',
    'The time that the customer has paid for.',
    'Σ paid periods; a month is 30.4375 days, a year twelve months',
  ),
  description(
    'mrr_milli',
    'MRR',
    'The current monthly value of the customer’s paid subscriptions.',
    'Σ monthly value of active paid segments, at the rate of the day on which each period began',
  ),
  description(
    'risk_milli',
    'MRR at risk',
    'The monthly value that will not renew or awaits a payment.',
    'Σ monthly value of subscriptions that will cancel, are in grace or in billing retry. Billing retry counts the value of the last paid period',
  ),
  description(
    'status',
    'Status',
    'The status of the customer’s best subscription.',
    'by the newest renewal info: renewing, committed (renewal turned off within a 12-month commitment billed monthly, until its last month), trial, will_cancel (renewal turned off), grace (payment failed, access continues), billing_retry (payment failed, no access), expired, refunded. Without a subscription, one-time.',
  ),
]
