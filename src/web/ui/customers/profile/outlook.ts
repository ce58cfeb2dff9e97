/** The state of a subscription and what happens next, in a sentence. */
import { productName } from '../../../../apps/product_name.ts'
import type { Tone } from '../../events/event_labels.ts'
import { date, money } from '../../words.ts'
import type { Subscription } from './profile_answer.ts'

type RenewalOutlook = { title: string; tone: Tone | 'accent'; next: string }

/** Reasons by Apple's expirationIntent. */
const EXPIRATION_REASONS: Record<number, string> = {
  1: 'auto-renewal was turned off',
  2: 'the payment failed',
  3: 'the customer did not accept the new price',
  4: 'the product was no longer available',
}

const priceOf = ({ renewal_price_milli, price_milli, currency }: Subscription): string | null =>
  renewal_price_milli === null && price_milli === null
    ? null
    : money(renewal_price_milli ?? price_milli, currency)

const priceText = (price: string | null, word: string): string => (price === null ? '' : ` ${word} ${price}`)

function runningOutlook(subscription: Subscription, bundle: string | undefined): RenewalOutlook {
  const { state, product_id, next_product_id, expires_at, committed_until_at, auto_renew } = subscription
  const price = priceOf(subscription)
  const isTrial = state === 'trial'
  if (auto_renew === false && committed_until_at !== null)
    return {
      title: 'Committed',
      tone: 'good',
      next: `Auto-renewal is off. Payments continue, next on ${date(expires_at)}, until the commitment ends on ${date(committed_until_at)}.`,
    }
  if (auto_renew === false)
    return {
      title: isTrial ? 'In trial, canceling' : 'Canceling',
      tone: 'warn',
      next: `Ends on ${date(expires_at)}. Auto-renewal is off.`,
    }
  const changesProduct = next_product_id !== null && next_product_id !== product_id
  const nextProduct = changesProduct ? ` as ${productName(next_product_id ?? '', bundle)}` : ''
  if (isTrial)
    return {
      title: 'In trial',
      tone: 'accent',
      next: `Converts to paid on ${date(expires_at)}${nextProduct}${priceText(price, 'at')}.`,
    }
  return {
    title: 'Renewing',
    tone: 'good',
    next: `Renews on ${date(expires_at)}${nextProduct}${priceText(price, 'at')}.`,
  }
}

/** Describes a subscription's state. `bundle` is the app's bundle id, which is removed from product names. */
export function outlookOf(subscription: Subscription, bundle: string | undefined): RenewalOutlook {
  const price = priceOf(subscription)
  const risk = price === null ? '' : ` ${price} per period is at risk.`
  switch (subscription.state) {
    case 'trial':
    case 'active':
      return runningOutlook(subscription, bundle)
    case 'grace':
      return {
        title: 'Grace period',
        tone: 'warn',
        next: `The payment failed on ${date(subscription.expires_at)}. Access continues until ${date(subscription.grace_until_at)} while Apple retries.${risk}`,
      }
    case 'retry':
      return {
        title: 'Billing retry',
        tone: 'bad',
        next: `In billing retry since ${date(subscription.expires_at)}, without access. Apple retries for up to 60 days.${risk}`,
      }
    case 'revoked':
      return subscription.ownership === 'FAMILY_SHARED'
        ? {
            title: 'Expired',
            tone: 'quiet',
            next: `Family access ended on ${date(subscription.revoked_at)}.`,
          }
        : { title: 'Refunded', tone: 'bad', next: `Refunded on ${date(subscription.revoked_at)}.` }
    default: {
      const why = EXPIRATION_REASONS[subscription.expiration_intent ?? 0]
      return {
        title: 'Expired',
        tone: 'quiet',
        next: `Ended on ${date(subscription.expires_at)}${why ? `: ${why}` : ''}.`,
      }
    }
  }
}
