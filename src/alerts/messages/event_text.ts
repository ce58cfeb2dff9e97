/** The words of a message about an event: what happened, the money, the product, what comes next, the customer and the app. */
import type { FeedEvent } from '../../events/feed.ts'
import type { Rates } from '../../rates/rates.ts'
import type { TemplateName } from '../rules/templates.ts'
import type { Tally, Text, Words } from './content.ts'
import type { DayTotal } from './day_totals.ts'
import { isOfPrice, nextText } from './next_text.ts'
import { isPayment, type Occasion } from './occasion.ts'
import { amountText, countryText, countText, flagOf, joined } from './wording.ts'

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
  'subscription.price_increase_asked': ['🏷️', 'Price increase awaits consent'],
  'subscription.price_increase_accepted': ['🏷️', 'Price increase accepted'],
  'subscription.price_changed': ['🏷️', 'Price changed'],
  'purchase.made': ['💰', 'Purchase'],
  'transaction.recorded': ['💰', 'Sale'],
}
const OTHER = ['🔔', 'Event'] as const

type Organization = Readonly<{ currency: string; time_zone: string }>
/** `today`: the sales of the day so far, if the event is one of them and they are known. */
type Context = {
  template: TemplateName
  organization: Organization
  rates: Pick<Rates, 'convert'>
  today: DayTotal | null
}

/** The text of a message about an event. */
export function eventText(occasion: Occasion, context: Context): Text {
  const money = moneyOf(occasion, context)
  return {
    shown: wordsOf(occasion, context, money),
    hidden: wordsOf(occasion, context, null),
    path: occasion.event.customer_id === null ? '/events' : `/customers/${occasion.event.customer_id}`,
    urgency: 'normal',
    tally: tallyOf(occasion, context, money),
  }
}

function tallyOf(occasion: Occasion, { organization }: Context, { milli }: Money): Tally {
  const { event, type, product_name, customer } = occasion
  const kind = isRefund(event)
    ? 'refund'
    : isPayment(type)
      ? 'sale'
      : type === 'trial.started'
        ? 'trial'
        : 'other'
  return {
    kind,
    name: (NAMES[type] ?? OTHER).join(' '),
    milli: kind === 'sale' || kind === 'refund' ? milli : 0,
    currency: organization.currency,
    // Customers can have become one since the event.
    customer_id: customer?.id ?? event.customer_id,
    product: product_name,
  }
}

const isRefund = ({ type }: Pick<FeedEvent, 'type'>): boolean => type.endsWith('.refunded')

/**
 * Amounts as text: `own` in the customer's currency, `base` in the owner's if that is another, and the lifetime value.
 * `milli`: thousandths in the owner's currency; null without a rate.
 */
type Money = { milli: number | null; own: string; base: string; lifetime: string }

function moneyOf(occasion: Occasion, { organization, rates }: Context): Money {
  const { snapshot, event } = occasion
  const { price_milli = 0, refunded_milli, currency = null } = snapshot.money ?? {}
  // With a notice of a price nothing is charged, and the line about it has both prices.
  const price = isOfPrice(event) ? 0 : price_milli
  const milli = isRefund(event) ? -(refunded_milli ?? price) : price
  const on = new Date(event.occurred_at).toISOString().slice(0, 10)
  const isOwn = currency === organization.currency
  const converted =
    currency === null || isOwn ? null : rates.convert(milli, currency, organization.currency, on)
  return {
    milli: isOwn || milli === 0 ? milli : (converted?.milli ?? null),
    own: milli === 0 || currency === null ? '' : amountText(milli, currency),
    base: converted === null || milli === 0 ? '' : amountText(converted.milli, organization.currency),
    lifetime: lifetimeText(occasion),
  }
}

/** The lifetime value of the customer. Someone who paid nothing yet has none to tell; after a refund, zero is news. */
function lifetimeText({ event, customer }: Occasion): string {
  const figures = customer?.figures ?? null
  if (figures === null || figures.currency === null || figures.unconverted !== null) return ''
  return figures.ltv_milli === 0 && !isRefund(event) ? '' : amountText(figures.ltv_milli, figures.currency)
}

function wordsOf(occasion: Occasion, { template, today, organization }: Context, money: Money | null): Words {
  const { snapshot, app_name } = occasion
  const product = productText(occasion)
  const next = nextText(occasion, organization.time_zone, money !== null)
  const [picture, name] = NAMES[occasion.type] ?? OTHER
  const country = snapshot.country ?? ''
  const isFirst = template === 'first_in_country'
  const what = isFirst ? `First sale in ${countryText(country)}` : name
  const lifetime = money && money.lifetime !== '' ? `lifetime ${money.lifetime}` : ''
  const base = money && money.base !== '' ? `≈ ${money.base}` : ''
  return {
    title: `${isFirst ? '🌍' : picture} ${joined(money?.own, what)}`,
    body: [
      joined(product, app_name),
      next,
      joined(country && `${flagOf(country)} ${countryText(country)}`.trim(), base),
      joined(paymentText(occasion), lifetime),
      today && todayText(today, money !== null),
    ]
      .filter((line) => line !== null && line !== '')
      .join('\n'),
    fields: [
      { label: 'Product', value: product },
      { label: 'App', value: app_name },
      { label: 'Country', value: country === '' ? '' : countryText(country) },
      { label: 'Payment', value: occasion.payment === 0 ? '' : String(occasion.payment) },
      { label: 'Amount', value: money === null ? '' : joined(money.own, money.base) },
      { label: 'Lifetime value', value: money?.lifetime ?? '' },
      { label: 'Next', value: next },
    ].filter(({ value }) => value !== ''),
  }
}

/** The product, with the number that was bought if it is not one. */
function productText({ product_name, snapshot: { transaction } }: Occasion): string {
  const quantity = transaction?.quantity ?? 1
  return quantity > 1 ? `${product_name} × ${quantity.toLocaleString('en-US')}` : product_name
}

/** Which payment of its subscription this is: the first, or the number of the renewal. */
function paymentText({ payment, event }: Occasion): string {
  if (payment === 0 || event.type === 'trial.started') return ''
  return payment === 1 ? 'first payment' : `renewal ${payment - 1}`
}

/** The day so far. */
const todayText = ({ milli, currency, sales }: DayTotal, isShown: boolean): string =>
  `Today: ${joined(isShown && amountText(milli, currency), countText(sales, 'sale', 'sales'))}`
