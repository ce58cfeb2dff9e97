/** Parses Apple's SALES report (summary, daily, version 1_0) and computes the amounts of each row. */
import { multiplyMilli } from '../../../money.ts'
import { isWithinApp, type ProductClass, productClassOf } from './product_types.ts'
import { column, type LineReader, optional, type TableFormat } from './tsv.ts'

/**
 * A row of the report. `app` identifies the app by SKU, and by Apple id if the row is of the app itself. `price_milli`
 * and `unit_proceeds_milli` are per unit; `gross_milli` and `proceeds_milli` are of all units, negative for a refund.
 * Blank cells are null. Without `proceeds_currency`, the proceeds are unknown. `subscription` is `New` or `Renewal`;
 * `period` is like `7 Days`.
 */
export type SalesRow = {
  line: number
  app: { sku: string; apple_id: number | null; name: string | null }
  class: ProductClass
  product_type: string
  sku: string
  apple_id: string | null
  title: string | null
  country: string
  units: number
  price_milli: number
  currency: string | null
  gross_milli: number
  unit_proceeds_milli: number
  proceeds_milli: number
  proceeds_currency: string | null
  subscription: string | null
  period: string | null
  order_type: string | null
  promo_code: string | null
  proceeds_reason: string | null
  preserved_pricing: string | null
  cmb: string | null
  client: string | null
  device: string | null
}

const columns = {
  sku: column('SKU'),
  title: optional('Title'),
  product_type: column('Product Type Identifier'),
  units: column('Units'),
  unit_proceeds: column('Developer Proceeds'),
  begins: column('Begin Date'),
  ends: optional('End Date'),
  currency: column('Customer Currency'),
  country: column('Country Code'),
  proceeds_currency: column('Currency of Proceeds', 'Proceeds Currency'),
  apple_id: column('Apple Identifier'),
  price: column('Customer Price'),
  promo_code: optional('Promo Code'),
  parent: column('Parent Identifier'),
  subscription: optional('Subscription'),
  period: optional('Period'),
  cmb: optional('CMB'),
  device: optional('Device'),
  proceeds_reason: optional('Proceeds Reason'),
  preserved_pricing: optional('Preserved Pricing'),
  client: optional('Client'),
  order_type: optional('Order Type'),
}
type Name = keyof typeof columns

/** The format of the report of `day` ('YYYY-MM-DD'). A row of another day is a fault, because it would count twice. */
export const salesTable = (day: string): TableFormat<Name, SalesRow> => ({
  columns,
  ignored_columns: [
    'Provider',
    'Provider Country',
    'Developer',
    'Version',
    'Category',
    'Supported Platforms',
  ],
  rowOf: (line) => {
    requireDay(line, 'begins', day)
    requireDay(line, 'ends', day)
    const product_type = line.required('product_type')
    const type = productClassOf(product_type)
    const sku = line.required('sku')
    const amounts = amountsOf(line)
    return {
      line: line.number(),
      app: appOf(line, type, sku),
      class: type,
      product_type,
      sku,
      apple_id: line.text('apple_id'),
      title: line.text('title'),
      country: line.required('country'),
      ...amounts,
      subscription: line.text('subscription'),
      period: line.text('period'),
      order_type: line.text('order_type'),
      promo_code: line.text('promo_code'),
      proceeds_reason: line.text('proceeds_reason'),
      preserved_pricing: line.text('preserved_pricing'),
      cmb: line.text('cmb'),
      client: line.text('client'),
      device: line.text('device'),
    }
  },
})

function requireDay(line: LineReader<Name>, name: 'begins' | 'ends', day: string): void {
  const rowDay = line.day(name)
  if (rowDay !== null && rowDay !== day) throw line.fault(name, `is ${rowDay}, but the report is of ${day}`)
}

/** The app of a row. The app's SKU is in the column `parent` for a purchase within an app, otherwise in `sku`. */
function appOf(line: LineReader<Name>, type: ProductClass, sku: string): SalesRow['app'] {
  if (isWithinApp(type)) return { sku: line.text('parent') ?? sku, apple_id: null, name: null }
  const apple_id =
    type === 'app' || type === 'redownload' || type === 'update' ? line.wholeOrNull('apple_id') : null
  return { sku, apple_id, name: line.text('title') }
}

function amountsOf(line: LineReader<Name>) {
  const units = line.whole('units')
  const price_milli = line.milli('price') ?? 0
  const unit_proceeds_milli = line.milli('unit_proceeds') ?? 0
  const currency = line.text('currency')
  const proceeds_currency = line.text('proceeds_currency')
  if (currency === null && price_milli !== 0) throw line.fault('currency', 'is blank but has a price')
  try {
    const { gross_milli, proceeds_milli } = sumsOf(units, price_milli, unit_proceeds_milli)
    return {
      units,
      price_milli,
      currency,
      gross_milli,
      unit_proceeds_milli,
      proceeds_milli,
      proceeds_currency,
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw line.fault('units', `times the price ${error.message}`)
  }
}

/**
 * The amounts of a row, in thousandths. Price and proceeds are per unit. A refund has negative units, a negative price
 * and positive proceeds; both amounts take the sign of the units. A partial refund, such as after an upgrade, has 0
 * units, a negative price and positive proceeds; both amounts are negative and count once.
 *
 * @throws RangeError when a sum is too large to be exact.
 */
export function sumsOf(units: number, price_milli: number, unit_proceeds_milli: number) {
  if (units === 0 && price_milli < 0) {
    return { gross_milli: price_milli, proceeds_milli: -Math.abs(unit_proceeds_milli) }
  }
  const price = units < 0 ? Math.abs(price_milli) : price_milli
  const proceeds = units < 0 ? Math.abs(unit_proceeds_milli) : unit_proceeds_milli
  return { gross_milli: multiplyMilli(units, price), proceeds_milli: multiplyMilli(units, proceeds) }
}
