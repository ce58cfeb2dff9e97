/** What we compute: what the metrics of how paid subscriptions stand mean. */
import { BY_SUBSCRIPTION, type Definition, PLAIN, term } from './definition.ts'

const AT_RISK = [
  term('will_cancel', 'Will cancel', 'Paid for, and the customer turned the renewal off.'),
  term('grace', 'Grace period', 'The payment failed; the customer keeps access while Apple tries again.'),
  term('billing_retry', 'Billing retry', 'The payment failed, access is gone, and Apple tries again.'),
] as const

export const STATUS_METRICS = {
  status: {
    ...PLAIN,
    ...BY_SUBSCRIPTION,
    name: 'status',
    title: 'Status',
    unit: 'count',
    kind: 'level',
    sentence: 'How many paid subscriptions will renew, will not, or wait for a payment.',
    formula:
      'renewing + committed + will cancel + grace + billing retry; all but the last are the paid segments alive of single transactions, the last those that were paid for and whose newest renewal info says that Apple tries to collect; each by the newest renewal info signed until then, and since the customer bought again. A commitment of twelve months billed monthly that is turned off is committed until its last month, then it will cancel',
    parts: [
      term('renewing', 'Renewing', 'Paid for, and to be renewed.'),
      term(
        'committed',
        'Committed',
        'The renewal is turned off, and the customer goes on paying until the twelve months are over.',
      ),
      ...AT_RISK,
    ],
  },
  mrr_at_risk: {
    ...PLAIN,
    ...BY_SUBSCRIPTION,
    name: 'mrr_at_risk',
    title: 'MRR at risk',
    unit: 'money',
    kind: 'level',
    sentence: 'What subscriptions that will not renew, or wait for a payment, are worth in a month.',
    formula:
      'Σ monthly value of will cancel + grace + billing retry; of the last what it was when it was paid for, which MRR has no more; at the rate of the day on which each period began. What is committed is not at risk before its last month',
    parts: AT_RISK,
  },
} as const satisfies Record<string, Definition>
