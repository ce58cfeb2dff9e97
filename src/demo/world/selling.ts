/** The sales report lines of a purchase, a refund and an upgrade. */
import { hundredths, isAfterAYear, proceedsFor } from './commission.ts'
import { pacificDay } from './pacific.ts'
import type { Person } from './people.ts'
import type { ReportLine } from './report_lines.ts'
import { chanceOf } from './sent_log.ts'
import { storefrontOf } from './storefronts.ts'
import type { Purchase } from './subscription.ts'
import type { World } from './world.ts'

/** Some rows reach App Store Connect a day later than the others. */
export function isLate(what: string): boolean {
  return chanceOf(`late ${what}`) < 0.03
}

export function deviceOf(person: Person): string {
  return chanceOf(`device ${person.id}`) < 0.8 ? 'iPhone' : 'iPad'
}

/** Reports exclude the sandbox and Family Sharing. */
function isReported({ person, sale }: Purchase): boolean {
  return person.environment === 'production' && sale.inAppOwnershipType === 'PURCHASED'
}

const TYPES: Record<string, string> = {
  'Auto-Renewable Subscription': 'IAY',
  'Non-Renewing Subscription': 'IA9',
}

/** A purchase or a renewal, free ones too. `price_milli` is that of all the pieces together. */
export function reportSale(world: World, bought: Purchase, price_milli: number): void {
  if (!isReported(bought)) return
  const { person, sale, sub } = bought
  const { app } = person
  const products = [...app.plans, ...app.goods]
  const product = products.find(({ product_id }) => product_id === sale.productId)
  if (product === undefined) throw new Error(`${app.name} does not sell ${sale.productId}`)
  const storefront = storefrontOf(sale.storefront)
  const unit_milli = price_milli / sale.quantity
  const after_a_year = sub !== null && isAfterAYear(sub, sale.purchaseDate)
  const day = pacificDay(sale.purchaseDate)
  const listed = sub === null ? unit_milli : world.price(sub.plan, storefront.currency)
  const line: ReportLine = {
    at: sale.purchaseDate,
    day,
    late: isLate(sale.transactionId),
    sku: app.sku,
    bundle_id: app.bundle_id,
    product_type: TYPES[sale.type] ?? 'IA1',
    product_id: sale.productId,
    apple_id: product.apple_id,
    title: product.name,
    country: storefront.country,
    currency: storefront.currency,
    units: sale.quantity,
    price_milli: unit_milli,
    proceeds_milli: proceedsFor(unit_milli, storefront, after_a_year),
    person: person.id,
    plan: sub?.plan ?? null,
    offer: sub?.offer ?? null,
    renewal: sale.transactionReason === 'RENEWAL',
    after_a_year,
    preserved: sub !== null && sub.offer === null && unit_milli < listed,
    device: deviceOf(person),
    purchased_on: day,
  }
  world.books.report(line, sale.transactionId)
}

/** A line of now about a purchase of before. */
function repeatLine(
  world: World,
  bought: Purchase,
  at: number,
  more: (line: ReportLine) => Partial<ReportLine>,
): void {
  const line = world.books.lineOf(bought.sale.transactionId)
  if (!isReported(bought) || line === undefined) return
  const late = isLate(`${bought.sale.transactionId} ${at}`)
  world.books.report({ ...line, at, day: pacificDay(at), late, ...more(line) })
}

/** The amounts of a part of a purchase; `amount_milli` is the customer's. */
function proportionOf({ country, after_a_year }: ReportLine, amount_milli: number) {
  const price_milli = hundredths(amount_milli)
  return { price_milli, proceeds_milli: proceedsFor(price_milli, storefrontOf(country), after_a_year) }
}

/** Records a partial refund, or the unused part at an upgrade. */
export function reportPartialRefund(world: World, bought: Purchase, at: number, amount_milli: number): void {
  repeatLine(world, bought, at, (line) => {
    const { price_milli, proceeds_milli } = proportionOf(line, amount_milli)
    return { units: 0, price_milli: -price_milli, proceeds_milli }
  })
}

/** All of it is given back. */
export function reportRefund(world: World, bought: Purchase, at: number): void {
  repeatLine(world, bought, at, ({ units, price_milli }) => ({ units: -units, price_milli: -price_milli }))
}

/** Records a reversed refund as another sale of the refunded amount. */
export function reportReversal(world: World, bought: Purchase, at: number, amount_milli: number): void {
  repeatLine(world, bought, at, (line) =>
    amount_milli === line.units * line.price_milli ? {} : { units: 1, ...proportionOf(line, amount_milli) },
  )
}
