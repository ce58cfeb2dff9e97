/** The generated part of docs/webhook-events.md: every event type beside RevenueCat’s and Adapty’s, and one body. */
import { EVENT_TYPES, type EventType, FORWARDED_TYPES, LATER_TYPES } from '../../src/events/vocabulary.ts'
import { EVENT_SENTENCES } from '../../src/forwarding/bodies/catalogue.ts'
import { exampleOf } from '../../src/forwarding/bodies/test_event.ts'

/** The closest events of other services: RevenueCat’s, then Adapty’s. */
const PEERS: Partial<Record<EventType, readonly [revenuecat: string | null, adapty: string | null]>> = {
  'trial.started': ['INITIAL_PURCHASE', 'trial_started'],
  'trial.converted': ['RENEWAL', 'trial_converted'],
  'trial.ended': ['EXPIRATION', 'trial_expired'],
  'subscription.started': ['INITIAL_PURCHASE', 'subscription_started'],
  'subscription.renewed': ['RENEWAL', 'subscription_renewed'],
  'subscription.recovered': ['RENEWAL', 'subscription_renewed'],
  'subscription.resubscribed': ['RENEWAL', null],
  'subscription.upgraded': ['PRODUCT_CHANGE', null],
  'subscription.downgraded': ['PRODUCT_CHANGE', null],
  'subscription.renewal_disabled': ['CANCELLATION', 'subscription_renewal_cancelled'],
  'subscription.renewal_enabled': ['UNCANCELLATION', 'subscription_renewal_reactivated'],
  'subscription.billing_failed': ['BILLING_ISSUE', 'billing_issue_detected'],
  'subscription.grace_started': ['BILLING_ISSUE', 'entered_grace_period'],
  'subscription.expired': ['EXPIRATION', 'subscription_expired'],
  'subscription.refunded': ['CANCELLATION', 'subscription_refunded'],
  'subscription.refund_reversed': ['REFUND_REVERSED', null],
  'subscription.extended': ['SUBSCRIPTION_EXTENDED', null],
  'purchase.made': ['NON_RENEWING_PURCHASE', 'non_subscription_purchase'],
  'purchase.refunded': ['CANCELLATION', 'non_subscription_purchase_refunded'],
  'purchase.refund_reversed': ['REFUND_REVERSED', null],
  'notification.test': ['TEST', null],
  'customer.moved': ['TRANSFER', null],
}

const DOCUMENTED: EventType = 'subscription.renewed'

/** The catalogue of events and an example, as Markdown. */
export function webhookEventsReference(): string {
  const rows = EVENT_TYPES.map((type) => {
    const [revenuecat = null, adapty = null] = PEERS[type] ?? []
    const default_ = LATER_TYPES.includes(type) ? 'yes¹' : FORWARDED_TYPES.includes(type) ? 'yes' : 'no'
    return `| \`${type}\` | ${EVENT_SENTENCES[type]} | ${default_} | ${name(revenuecat)} | ${name(adapty)} |`
  })
  return [
    '## All events',
    'An endpoint without a list of types receives the types with *yes* under *default*. The last two columns name the ' +
      'closest event of RevenueCat and Adapty; “–” means that they have none.',
    ['| type | recorded when | default | RevenueCat | Adapty |', '|---|---|---|---|---|', ...rows].join('\n'),
    '¹ An endpoint that was added by a version before 0.4.0 receives it only if its list of types names it.',
    '## Example',
    `A \`${DOCUMENTED}\` from the simulated App Store. The OpenAPI document has an example of each type.`,
    `\`\`\`json\n${JSON.stringify(exampleOf(DOCUMENTED), null, 2)}\n\`\`\``,
  ].join('\n\n')
}

const name = (other: string | null): string => (other === null ? '–' : `\`${other}\``)
