/** Classifies the event names in Apple's SUBSCRIPTION_EVENT report. Apple may add names at any time. */

/**
 * `activation`: a subscription began, with or without an offer. `conversion`: an offer was followed by another offer or
 * a paid period. `change`: the product changed. `cancellation`: the subscription ended. `billing`: a payment failed.
 * `reactivation`: the customer subscribed again after the end. `other`: the name is unknown.
 */
export type EventClass =
  | 'activation'
  | 'renewal'
  | 'conversion'
  | 'change'
  | 'cancellation'
  | 'billing'
  | 'reactivation'
  | 'refund'
  | 'other'

// The first match wins: `Crossgrade from Introductory Offer` is a conversion, `Upgrade from Billing Retry` a change.
const CLASSES: readonly (readonly [RegExp, EventClass])[] = [
  [/^refund/, 'refund'],
  [/^reactivat/, 'reactivation'],
  [/^cancel/, 'cancellation'],
  [/^billing retry/, 'billing'],
  [/^renew/, 'renewal'],
  [/^(upgrade|downgrade|crossgrade) from (introductory|promotional|offer|win-?back|free)/, 'conversion'],
  [/^(upgrade|downgrade|crossgrade)/, 'change'],
  [
    /^(paid subscription|introductory (offer|price)|promotional offer|offer code|win-?back offer) from/,
    'conversion',
  ],
  [/^(subscribe|start |opt-?in)/, 'activation'],
]

/** The class of an event name. The beginning of the name determines it. */
export function eventClassOf(event: string): EventClass {
  const name = event.toLowerCase()
  return CLASSES.find(([beginning]) => beginning.test(name))?.[1] ?? 'other'
}
