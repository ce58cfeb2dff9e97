/** Definitions of the status metrics: subscriptions by renewal status, and MRR at risk. */
import { BASE, BY_SUBSCRIPTION, type Definition, term } from './definition.ts'

const AT_RISK = [
  term('will_cancel', 'Will cancel', 'Paid, and the customer turned the renewal off.'),
  term('grace', 'Grace period', 'The payment failed. The customer keeps access while Apple retries.'),
  term(
    'billing_retry',
    'Billing retry',
    'The payment failed. The customer has no access while Apple retries.',
  ),
] as const

export const STATUS_METRICS = {
  status: {
    ...BASE,
    ...BY_SUBSCRIPTION,
    name: 'status',
    title: 'Status',
    unit: 'count',
    kind: 'level',
    sentence: 'Paid subscriptions by renewal status: renewing, canceling or awaiting a payment.',
    formula:
      'renewing + committed + will cancel + grace + billing retry. Billing retry counts subscriptions that were paid and whose newest renewal info says that Apple retries the payment; the others are active paid segments from the ledger. Each status comes from the newest renewal info signed by then and after the last purchase. A 12-month commitment billed monthly with renewal turned off is committed until its last month, then it will cancel',
    parts: [
      term('renewing', 'Renewing', 'Paid, and renewal is on.'),
      term(
        'committed',
        'Committed',
        'Renewal is turned off, and the customer keeps paying until the twelve months end.',
      ),
      ...AT_RISK,
    ],
  },
  mrr_at_risk: {
    ...BASE,
    ...BY_SUBSCRIPTION,
    name: 'mrr_at_risk',
    title: 'MRR at risk',
    unit: 'money',
    kind: 'level',
    sentence: 'The monthly value of subscriptions that will not renew or await a payment.',
    formula:
      'Σ monthly value of will cancel + grace + billing retry, converted at the rate of the day on which each period began. Billing retry counts the value of the last paid period, which MRR no longer contains. A commitment is not at risk before its last month',
    parts: AT_RISK,
  },
} as const satisfies Record<string, Definition>
