/** How a subscription stands now and what happens next, in a sentence. */
import { productName } from '../../events/event_detail.ts'
import type { Tone } from '../../events/event_labels.ts'
import { date, money } from '../../words.ts'
import type { Subscription } from './profile_answer.ts'

type RenewalOutlook = { title: string; tone: Tone | 'accent'; next: string }

/** Apple's expirationIntent. */
const ENDINGS: Record<number, string> = {
  1: 'renewal was turned off',
  2: 'the payment failed',
  3: 'the customer did not agree to the new price',
  4: 'the product was not on sale any more',
}

const priceOf = ({ renewal_price_milli, price_milli, currency }: Subscription): string | null =>
  renewal_price_milli === null && price_milli === null
    ? null
    : money(renewal_price_milli ?? price_milli, currency)

const at = (price: string | null, word: string): string => (price === null ? '' : ` ${word} ${price}`)

function running(one: Subscription, bundle: string | undefined): RenewalOutlook {
  const { state, product_id, next_product_id, expires_at, committed_until_at, auto_renew } = one
  const price = priceOf(one)
  const isTrial = state === 'trial'
  if (auto_renew === false && committed_until_at !== null)
    return {
      title: 'Committed',
      tone: 'good',
      next: `Renewal is turned off. Pays on, next ${date(expires_at)}, until the commitment ends ${date(committed_until_at)}.`,
    }
  if (auto_renew === false)
    return {
      title: isTrial ? 'In trial, will end' : 'Will end',
      tone: 'warn',
      next: `Will end ${date(expires_at)}: renewal is turned off.`,
    }
  const isOther = next_product_id !== null && next_product_id !== product_id
  const other = isOther ? ` as ${productName(next_product_id ?? '', bundle)}` : ''
  if (isTrial)
    return {
      title: 'In trial',
      tone: 'accent',
      next: `Becomes paid ${date(expires_at)}${other}${at(price, 'at')}.`,
    }
  return { title: 'Renewing', tone: 'good', next: `Renews ${date(expires_at)}${other}${at(price, 'at')}.` }
}

/** `bundle`: of the app, so that products are called by their short names. */
export function outlookOf(one: Subscription, bundle: string | undefined): RenewalOutlook {
  const price = priceOf(one)
  const risk = price === null ? '' : ` ${price} a period is at risk.`
  switch (one.state) {
    case 'trial':
    case 'active':
      return running(one, bundle)
    case 'grace':
      return {
        title: 'Grace period',
        tone: 'warn',
        next: `The payment failed ${date(one.expires_at)}. Access goes on until ${date(one.grace_until_at)} while Apple tries again.${risk}`,
      }
    case 'retry':
      return {
        title: 'Billing retry',
        tone: 'bad',
        next: `In billing retry since ${date(one.expires_at)}, without access. Apple tries for up to 60 days.${risk}`,
      }
    case 'revoked':
      return { title: 'Taken back', tone: 'bad', next: `Apple took it back ${date(one.revoked_at)}.` }
    default: {
      const why = ENDINGS[one.expiration_intent ?? 0]
      return {
        title: 'Expired',
        tone: 'quiet',
        next: `Ended ${date(one.expires_at)}${why ? `: ${why}` : ''}.`,
      }
    }
  }
}
