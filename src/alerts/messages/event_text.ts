/** The words of a message about an event: what happened, the money, the product, the customer and the app. */
import type { Rates } from '../../rates/rates.ts'
import type { TemplateName } from '../rules/templates.ts'
import type { Text, Words } from './content.ts'
import type { Occasion } from './occasion.ts'
import { amountText, countryText, flagOf, joined } from './wording.ts'

/** The picture and the name of each event type. */
const NAMES: Readonly<Record<string, readonly [picture: string, name: string]>> = {
  'trial.started': ['🌱', 'Trial started'],
  'trial.converted': ['🎉', 'Trial converted'],
  'subscription.started': ['🎉', 'New subscriber'],
  'subscription.renewed': ['🔁', 'Renewal'],
  'subscription.recovered': ['💚', 'Payment recovered'],
  'subscription.resubscribed': ['🎉', 'Subscriber is back'],
  'subscription.upgraded': ['⬆️', 'Upgrade'],
  'subscription.offer_redeemed': ['🎟️', 'Offer redeemed'],
  'subscription.refunded': ['↩️', 'Refund'],
  'purchase.refunded': ['↩️', 'Refund'],
  'subscription.billing_failed': ['💳', 'Payment failed'],
  'subscription.grace_started': ['💳', 'Payment failed, grace period'],
  'subscription.renewal_disabled': ['👋', 'Renewal turned off'],
  'purchase.made': ['💰', 'Purchase'],
  'transaction.recorded': ['💰', 'Sale'],
}
const OTHER = ['🔔', 'Event'] as const

type Organization = Readonly<{ currency: string }>
type Context = { template: TemplateName; organization: Organization; rates: Pick<Rates, 'convert'> }

/** The text of a message about an event. */
export function eventText(occasion: Occasion, context: Context): Text {
  const money = moneyOf(occasion, context)
  return {
    shown: wordsOf(occasion, context, money),
    hidden: wordsOf(occasion, context, null),
    path: occasion.event.customer_id === null ? '/events' : `/customers/${occasion.event.customer_id}`,
    urgency: 'normal',
  }
}

/** Amounts as text: `own` in the customer's currency, `base` in the owner's if that is another, and the lifetime value. */
type Money = { own: string; base: string; lifetime: string }

function moneyOf({ snapshot, event, customer }: Occasion, { organization, rates }: Context): Money {
  const { price_milli = 0, refunded_milli, currency = null } = snapshot.money ?? {}
  const isRefund = event.type.endsWith('.refunded')
  const milli = isRefund ? -(refunded_milli ?? price_milli) : price_milli
  const on = new Date(event.occurred_at).toISOString().slice(0, 10)
  const converted =
    currency === null || currency === organization.currency
      ? null
      : rates.convert(milli, currency, organization.currency, on)
  const figures = customer?.figures ?? null
  // Someone who paid nothing yet has no value to tell. After a refund, zero is news.
  const isWorthless = figures?.ltv_milli === 0 && !isRefund
  return {
    own: milli === 0 || currency === null ? '' : amountText(milli, currency),
    base: converted === null || milli === 0 ? '' : amountText(converted.milli, organization.currency),
    lifetime:
      figures === null || figures.currency === null || figures.unconverted !== null || isWorthless
        ? ''
        : amountText(figures.ltv_milli, figures.currency),
  }
}

function wordsOf(occasion: Occasion, { template }: Context, money: Money | null): Words {
  const { snapshot, app_name, product_name } = occasion
  const [picture, name] = NAMES[occasion.type] ?? OTHER
  const country = snapshot.country ?? ''
  const isFirst = template === 'first_in_country'
  const what = isFirst ? `First sale in ${countryText(country)}` : name
  const lifetime = money && money.lifetime !== '' ? `lifetime ${money.lifetime}` : ''
  const base = money && money.base !== '' ? `≈ ${money.base}` : ''
  return {
    title: `${isFirst ? '🌍' : picture} ${joined(money?.own, what)}`,
    body: [
      joined(product_name, app_name),
      joined(country && `${flagOf(country)} ${countryText(country)}`.trim(), base),
      joined(paymentText(occasion), lifetime),
    ]
      .filter((line) => line !== '')
      .join('\n'),
    fields: [
      { label: 'Product', value: product_name },
      { label: 'App', value: app_name },
      { label: 'Country', value: country === '' ? '' : countryText(country) },
      { label: 'Payment', value: occasion.payment === 0 ? '' : String(occasion.payment) },
      { label: 'Amount', value: money === null ? '' : joined(money.own, money.base) },
      { label: 'Lifetime value', value: money?.lifetime ?? '' },
    ].filter(({ value }) => value !== ''),
  }
}

/** Which payment of its subscription this is: the first, or the number of the renewal. */
function paymentText({ payment, event }: Occasion): string {
  if (payment === 0 || event.type === 'trial.started') return ''
  return payment === 1 ? 'first payment' : `renewal ${payment - 1}`
}
