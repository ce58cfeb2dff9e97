/** The sales report lines of a purchase, a refund and an upgrade. */
import { hundredths, isAfterAYear, proceedsFor } from './commission.ts'
import { pacificDay } from './pacific.ts'
import type { Person } from './people.ts'
import type { ReportLine } from './report_lines.ts'
import { chanceOf } from './sent_log.ts'
import { storefrontOf } from './storefronts.ts'
import type { Purchase } from './subscription.ts'
import type { World } from './world.ts'

/** Whether a row reaches App Store Connect a day later than the others. `rowId` identifies the row. */
export function isLate(rowId: string): boolean {
  return chanceOf(`late ${rowId}`) < 0.03
}

export function deviceOf(person: Person): string {
  return chanceOf(`device ${person.id}`) < 0.8 ? 'iPhone' : 'iPad'
}

/** Reports exclude the sandbox and Family Sharing. */
function isReported({ person, sale }: Purchase): boolean {
  return person.environment === 'production' && sale.inAppOwnershipType === 'PURCHASED'
}

const PRODUCT_TYPES: Record<string, string> = {
  'Auto-Renewable Subscription': 'IAY',
  'Non-Renewing Subscription': 'IA9',
}

/** Records the report line of a purchase or renewal, also of free ones. `price_milli` is the price of all units. */
export function reportSale(world: World, purchase: Purchase, price_milli: number): void {
  if (!isReported(purchase)) return
  const { person, sale, sub } = purchase
  const { app } = person
  const products = [...app.plans, ...app.goods]
  const product = products.find(({ product_id }) => product_id === sale.productId)
  if (product === undefined) throw new Error(`${app.name} does not sell ${sale.productId}`)
  const storefront = storefrontOf(sale.storefront)
  const unit_milli = price_milli / sale.quantity
  const after_a_year = sub !== null && isAfterAYear(sub, sale.purchaseDate)
  const day = pacificDay(sale.purchaseDate)
  const list_price_milli = sub === null ? unit_milli : world.price(sub.plan, storefront.currency)
  const line: ReportLine = {
    at: sale.purchaseDate,
    day,
    late: isLate(sale.transactionId),
    sku: app.sku,
    bundle_id: app.bundle_id,
    product_type: PRODUCT_TYPES[sale.type] ?? 'IA1',
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
    preserved: sub !== null && sub.offer === null && unit_milli < list_price_milli,
    device: deviceOf(person),
    purchased_on: day,
  }
  world.books.report(line, sale.transactionId)
}

/** Repeats the line of an earlier purchase at `at`, except for the fields that `changedFields` returns. */
function repeatLine(
  world: World,
  purchase: Purchase,
  at: number,
  changedFields: (line: ReportLine) => Partial<ReportLine>,
): void {
  const line = world.books.lineOf(purchase.sale.transactionId)
  if (!isReported(purchase) || line === undefined) return
  const late = isLate(`${purchase.sale.transactionId} ${at}`)
  world.books.report({ ...line, at, day: pacificDay(at), late, ...changedFields(line) })
}

/** The price and proceeds of a partial refund. `amount_milli` is what the customer receives. */
function partialAmounts({ country, after_a_year }: ReportLine, amount_milli: number) {
  const price_milli = hundredths(amount_milli)
  return { price_milli, proceeds_milli: proceedsFor(price_milli, storefrontOf(country), after_a_year) }
}

/** Records a partial refund, or the refund of the unused time at an upgrade. */
export function reportPartialRefund(
  world: World,
  purchase: Purchase,
  at: number,
  amount_milli: number,
): void {
  repeatLine(world, purchase, at, (line) => {
    const { price_milli, proceeds_milli } = partialAmounts(line, amount_milli)
    return { units: 0, price_milli: -price_milli, proceeds_milli }
  })
}

/** Records a full refund. */
export function reportRefund(world: World, purchase: Purchase, at: number): void {
  repeatLine(world, purchase, at, ({ units, price_milli }) => ({ units: -units, price_milli: -price_milli }))
}

/** Records a reversed refund as another sale of the refunded amount. */
export function reportReversal(world: World, purchase: Purchase, at: number, amount_milli: number): void {
  repeatLine(world, purchase, at, (line) =>
    amount_milli === line.units * line.price_milli ? {} : { units: 1, ...partialAmounts(line, amount_milli) },
  )
}
