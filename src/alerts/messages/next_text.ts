/** What comes after an event, as far as Apple has reported it: the first payment of a trial, the end of access, a new price. */
import type { FeedEvent } from '../../events/feed.ts'
import type { Occasion } from './occasion.ts'
import { amountText, dateText } from './wording.ts'

/** Whether an event is about a price from the next renewal on, and nothing was charged. */
export const isOfPrice = ({ type }: Pick<FeedEvent, 'type'>): boolean =>
  type.startsWith('subscription.price_')

/** The line about what comes next; empty if nothing is known. `isShown`: whether it may have amounts. */
export function nextText(occasion: Occasion, time_zone: string, isShown: boolean): string {
  const { type, event } = occasion
  const { grace_until_at } = occasion.snapshot.subscription ?? {}
  /** A text with a later date; empty without one. */
  const withDate = (text: string, at: number | undefined): string =>
    at === undefined || at <= event.occurred_at ? '' : `${text} ${dateText(at, event.occurred_at, time_zone)}`
  if (isOfPrice(event)) return priceText(occasion, withDate, isShown)
  switch (type) {
    case 'trial.started':
      return trialText(occasion, withDate, isShown)
    case 'subscription.renewal_disabled':
      return withDate('Access until', accessEnd(occasion))
    case 'subscription.grace_started':
      return withDate('Grace period until', grace_until_at)
    default:
      return ''
  }
}

type WithDate = (text: string, at: number | undefined) => string

function trialText(occasion: Occasion, withDate: WithDate, isShown: boolean): string {
  const { next_product_name, snapshot } = occasion
  const { auto_renew, expires_at } = snapshot.subscription ?? {}
  if (auto_renew === false) return withDate('Renewal is off, access until', accessEnd(occasion))
  const price = renewalPrice(occasion)
  if (price === '' || !isShown) return withDate('Trial until', expires_at)
  const product = next_product_name === null ? '' : ` for ${next_product_name}`
  return withDate(`Then ${price}${product} on`, expires_at)
}

/** The end of the period, of a grace period, or of a commitment to several periods. */
function accessEnd({ snapshot: { subscription }, committed_until_at }: Occasion): number | undefined {
  const { expires_at, grace_until_at } = subscription ?? {}
  return expires_at && Math.max(expires_at, grace_until_at ?? 0, committed_until_at ?? 0)
}

/** The price now, unless it is that of an offer, and the next one. */
function priceText(occasion: Occasion, withDate: WithDate, isShown: boolean): string {
  const { money, transaction, subscription } = occasion.snapshot
  const next = renewalPrice(occasion)
  const now =
    money && money.currency !== null && transaction?.offer_type === undefined
      ? amountText(money.price_milli, money.currency)
      : ''
  if (next === '' || next === now) return ''
  const prices = now === '' ? next : `${now} → ${next}`
  return isShown
    ? withDate(`${prices} from`, subscription?.expires_at) || prices
    : withDate('From', subscription?.expires_at)
}

function renewalPrice({ snapshot: { subscription } }: Occasion): string {
  const { renewal_price_milli, currency } = subscription ?? {}
  return renewal_price_milli && currency !== undefined ? amountText(renewal_price_milli, currency) : ''
}
