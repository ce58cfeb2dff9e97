/** Computes the proceeds of a charge, and the part of them that a refund takes back. All figures use these functions. */
import { divideHalfEven } from '../../money.ts'
import { type Flow, isRefundFlow } from './flows.ts'
import type { ToBase } from './movements.ts'

/**
 * How the proceeds of a charge are known. exact: the report of the charge’s Pacific day contains the price. ratio: only an
 * earlier report contains the price, or proceeds differ within the day and are averaged. estimated: no report contains
 * the price; the proceeds are the share of another price of the product in the country, or else the price less the
 * configured commission.
 */
export const CERTAINTIES = ['exact', 'ratio', 'estimated'] as const
export type ProceedsCertainty = (typeof CERTAINTIES)[number]

/**
 * A charge of `price_milli` thousandths of `currency` for `quantity` units together. `storefront`: alpha-3. `at`: the
 * instant of the charge.
 */
export type PricedCharge = {
  product_id: string
  storefront: string | null
  currency: string
  price_milli: number
  quantity: number
  at: number
}

/** Proceeds in thousandths of `currency`, which may differ from the currency of the charge. */
export type Proceeds = { milli: number; currency: string; basis: ProceedsCertainty }

/** `proceedsOf`: the proceeds of a charge of one app. */
export type ProceedsSettings = { proceedsOf: (charge: PricedCharge) => Proceeds; toBase: ToBase }

/**
 * `milli`: in `currency`, that of the charge; 0 if Apple pays in another one. `base_milli`: in the base currency. Without a
 * rate it is null, and `milli` and `currency` are what Apple pays.
 */
type ConvertedProceeds = Proceeds & { base_milli: number | null }

/** Computes the proceeds of a charge, converted at the rate of its day, as its price is. */
export function proceedsOfCharge(
  charge: PricedCharge,
  { proceedsOf, toBase }: ProceedsSettings,
): ConvertedProceeds {
  const { milli, currency, basis } = proceedsOf(charge)
  const base_milli = milli === 0 ? 0 : toBase(milli, currency, charge.at)
  if (base_milli === null || currency === charge.currency) return { milli, currency, base_milli, basis }
  return { milli: 0, currency: charge.currency, base_milli, basis }
}

/**
 * Computes the proceeds of a flow; null without a price. Those of a refund are positive, and a part of the proceeds of
 * its charge, so that charge and full refund sum to exactly zero.
 */
export function proceedsOfFlow(flow: Flow, settings: ProceedsSettings): ConvertedProceeds | null {
  const { currency, charged_at } = flow
  if (flow.kind === 'unpriced' || currency === null) return null
  const charge = proceedsOfCharge({ ...flow, currency, at: charged_at }, settings)
  if (!isRefundFlow(flow)) return charge
  const { milli, base_milli } = charge
  return {
    ...charge,
    milli: returnedPart(milli, flow),
    base_milli: base_milli === null ? null : returnedPart(base_milli, flow),
  }
}

/** An amount that is given back, after others of the same charge. */
type Returned = Pick<Flow, 'milli' | 'price_milli' | 'refunded_before_milli'>

/**
 * The part of `whole`, the proceeds of a charge, that is given back with `milli` of its price: the difference of two
 * cumulative amounts, each rounded once, half to even.
 */
export function returnedPart(whole: number, { milli, price_milli, refunded_before_milli }: Returned): number {
  const upTo = (refunded: number): number =>
    Number(divideHalfEven(BigInt(whole) * BigInt(refunded), BigInt(price_milli)))
  return upTo(refunded_before_milli + milli) - upTo(refunded_before_milli)
}

const PARTS = {
  new: 'charged',
  renewal: 'charged',
  one_time: 'charged',
  refund: 'refunded',
  refund_reversed: 'refunded',
  proration: 'prorated',
} as const

/** What a row of each measure of proceeds is a part of, by measure. Refunds on the day of the charge are not included. */
export const PROCEEDS_PARTS: ReadonlyMap<
  string,
  { part: (typeof PARTS)[keyof typeof PARTS]; basis: ProceedsCertainty }
> = new Map(
  Object.entries(PARTS).flatMap(([kind, part]) =>
    CERTAINTIES.map((basis) => [`proceeds.${kind}.${basis}`, { part, basis }] as const),
  ),
)
