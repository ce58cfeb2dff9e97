/** What we compute: what every number of a customer means, in words and as a formula. */
import type { Description } from '../definitions/definition.ts'

const description = (name: string, title: string, sentence: string, formula: string): Description => ({
  name,
  title,
  sentence,
  formula,
})

/** By the names that they have in a customer. Money is in the organization's own currency. */
export const CUSTOMER_DESCRIPTIONS: readonly Description[] = [
  description(
    'ltv_milli',
    'LTV',
    'What the customer has brought so far.',
    'charged − refunded − prorated; nothing where all was given back',
  ),
  description(
    'charged_milli',
    'Charged',
    'What the customer was charged, with the tax in it.',
    'Σ charges, each at the rate of its day',
  ),
  description(
    'refunded_milli',
    'Refunded',
    'What Apple gave back.',
    'Σ price × the share that Apple names, at the rate of the day of the charge',
  ),
  description(
    'prorated_milli',
    'Upgrades',
    'What Apple gave back at upgrades without saying so; an estimate.',
    'Σ price × unused time ÷ whole time, at the rate of the day of the charge',
  ),
  description(
    'proceeds_milli',
    'Proceeds',
    'What stays of that after tax and Apple’s commission.',
    'Σ proceeds of a charge × (charge − given back) ÷ charge, by the rate of the charge’s day; proceeds by Apple’s report of that day, else of the same price before, else by the configured commission (proceeds_estimated: of how many charges)',
  ),
  description(
    'payments',
    'Payments',
    'How often the customer was charged.',
    'count of charges, those of an unknown price too',
  ),
  description(
    'unpriced',
    'Unknown price',
    'How many of those cost what Apple has not told.',
    'count; outside all sums',
  ),
  description(
    'months_paid',
    'Months paid',
    'For how long the customer has paid.',
    'Σ periods paid for; a month is 30.4375 days, a year twelve of them',
  ),
  description(
    'mrr_milli',
    'MRR',
    'What the customer’s paid subscriptions are worth in a month now.',
    'Σ monthly value of paid segments alive, at the rate of the day on which each period began',
  ),
  description(
    'risk_milli',
    'MRR at risk',
    'What of it will not renew, or waits for a payment.',
    'Σ monthly value of subscriptions that will cancel, are in grace or in billing retry; of the last what it was when it was paid for',
  ),
  description(
    'status',
    'Status',
    'How the best of the customer’s subscriptions stands.',
    'by the newest renewal info: renewing, committed (renewal turned off within a commitment of twelve months billed monthly, until its last month), trial, will_cancel (renewal turned off), grace (not collected, access goes on), billing_retry (not collected, no access), expired',
  ),
]
