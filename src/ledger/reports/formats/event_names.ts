/** Classifies the event names in Apple's SUBSCRIPTION_EVENT report. The set is open: Apple adds to it. */

/**
 * `activation` it began, with or without an offer; `renewal`; `conversion` an offer turned into another offer or a paid
 * period; `change` of product; `cancellation` it ended; `billing` a payment failed; `reactivation` after an end;
 * `refund`; `other` an unknown name.
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

// The first match decides: `Crossgrade from Introductory Offer` is a conversion, `Upgrade from Billing Retry` a change.
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

/** The class of an event name, by its beginning. */
export function eventClassOf(event: string): EventClass {
  const name = event.toLowerCase()
  return CLASSES.find(([beginning]) => beginning.test(name))?.[1] ?? 'other'
}
