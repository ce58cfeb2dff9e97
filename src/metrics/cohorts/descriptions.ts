/** Describes each cohort metric in a sentence and a formula. */

export type CohortMetric = 'retention' | 'ltv' | 'arppu' | 'recovery'

/** `sentence` is for readers of a chart, `formula` for those who check its numbers. */
export const COHORT_METRICS: Readonly<
  Record<CohortMetric, { title: string; sentence: string; formula: string }>
> = {
  retention: {
    title: 'Retention',
    sentence: 'Of the subscriptions first paid in the same period, the share still paid at the k-th renewal.',
    formula:
      'held ÷ due. Cohorts group the subscriptions with a known start by the day of their first payment and the period paid for then. held: paid (or in a grace period) a day after the k-th period ended. due: all for which that is known. A commitment billed monthly renews each month',
  },
  ltv: {
    title: 'Realized LTV',
    sentence: 'Revenue to date per customer, by the period of the first payment.',
    formula:
      '(Σ charged − Σ refunded − Σ prorated, through the given day after each customer’s first payment, which is day 0) ÷ customers of the cohort. A product or country filter counts only purchases of it. A charge and its refunds are converted at the rate of the day of the charge. Proceeds are the sum of those of each charge less what was returned of it',
  },
  arppu: {
    title: 'ARPPU',
    sentence: 'Average revenue per paying customer.',
    formula:
      '(Σ charged − Σ refunded − Σ prorated in the period) ÷ customers charged in it. A charge and its refunds are converted at the rate of the day of the charge. Proceeds are the sum of those of each charge less what was returned of it',
  },
  recovery: {
    title: 'Billing recovery',
    sentence: 'The share of failed payments that Apple collected later, and how soon.',
    formula:
      'recovered ÷ failed, by the day the payment was due. recovered: paid within 60 days. lost: Apple stopped retrying, the customer canceled, or 60 days passed. pending: neither yet. days to recover: the mean; a payment within the first 24 hours counts as 1. Where Apple dates a late renewal at the old expiry, the payment is at the first renewal info that no longer says that Apple retries',
  },
}
