/** What we compute: what each metric of cohorts means, in words and as a formula. */

export type CohortMetric = 'retention' | 'ltv' | 'arppu' | 'recovery'

/** `sentence` for anybody, `formula` for who checks it. */
export const COHORT_METRICS: Readonly<
  Record<CohortMetric, { title: string; sentence: string; formula: string }>
> = {
  retention: {
    title: 'Retention',
    sentence: 'Of the subscriptions first paid for together, the share still paid for at the k-th renewal.',
    formula:
      'held ÷ due: of the subscriptions whose beginning is known, by the day of their first payment and the period paid for then, those paid for (or in a grace period) a day after the k-th period ended, over those of which that is known. A commitment billed monthly is renewed each month',
  },
  ltv: {
    title: 'Realized LTV',
    sentence: 'What the customers who first paid together have brought since, for each of them.',
    formula:
      '(Σ charged − Σ refunded − Σ prorated, up to and with the given day after each customer’s first payment, whose day is 0) ÷ customers of the cohort; with a product or country, of what was bought of that alone; a charge and what is given back of it at the rate of the day of the charge; in proceeds each by what is left of the product’s price in the country by the newest report up to the day, else by the configured commission',
  },
  arppu: {
    title: 'ARPPU',
    sentence: 'Average revenue per paying customer.',
    formula:
      '(Σ charged − Σ refunded − Σ prorated in the period) ÷ customers who were charged in it; a charge and what is given back of it at the rate of the day of the charge; in proceeds by what is left at its end',
  },
  recovery: {
    title: 'Billing recovery',
    sentence: 'Of the payments that failed, how many Apple collected after all, and how soon.',
    formula:
      'recovered ÷ failed, by the day the payment was due; recovered: paid again within 60 days; lost: Apple or the customer gave up, or 60 days are over; pending: neither yet; days to recover: the mean, a payment within the first 24 hours being 1',
  },
}
