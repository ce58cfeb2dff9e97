/** Computes the proceeds of charges, less refunds. */
import { divideHalfEven } from '../../money.ts'
import { type Flow, isRefundFlow } from '../lineage/flows.ts'

/**
 * The proceeds of a lineage’s charges. `proceeds_milli`: in thousandths of the base currency; null if no charge’s proceeds
 * are known. `proceeds_estimated`: the number of charges whose proceeds are estimated. `last_charge_day`: in UTC, -1
 * without a charge. `is_final`: no later rate or report can change the proceeds.
 */
export type LineageProceeds = {
  proceeds_milli: number | null
  proceeds_estimated: number
  last_charge_day: number
  is_final: boolean
}

/** A charge; `milli` is in thousandths of `currency`. */
type Charge = {
  app_id: string
  transaction_id: string
  product_id: string
  storefront: string | null
  currency: string
  milli: number
  at: number
}
/**
 * The amount after tax and commission in thousandths of the base currency, and its certainty. `is_final`: no later rate
 * can change the amount.
 */
export type Proceeds = { base_milli: number; basis: 'exact' | 'ratio' | 'estimated'; is_final: boolean }
/** Converts a charge to its proceeds in a base currency; null if there is no rate. */
export type ConvertProceeds = (charge: Charge, base: string) => Proceeds | null

const DAY_MS = 86_400_000

/** The proceeds of a charge less refunds, at the rate of the day of the charge; null if they are unknown. */
export function netProceeds(
  charged: Flow,
  flows: readonly Flow[],
  { app_id, base, proceedsOf }: { app_id: string; base: string; proceedsOf: ConvertProceeds },
): Proceeds | null {
  const { currency, milli, kind } = charged
  if (kind === 'unpriced' || currency === null) return null
  const proceeds = proceedsOf({ ...charged, app_id, currency }, base)
  const refunded = flows.reduce((sum, one) => (isRefundFlow(one) ? sum + one.milli : sum), 0)
  if (proceeds === null || refunded === 0) return proceeds
  const remaining = BigInt(proceeds.base_milli) * BigInt(Math.max(0, milli - refunded))
  return { ...proceeds, base_milli: Number(divideHalfEven(remaining, BigInt(milli))) }
}

/** The proceeds of all charges of a lineage; `flows` are all of its flows. */
export function lineageProceeds(
  flows: readonly Flow[],
  context: { app_id: string; base: string; proceedsOf: ConvertProceeds },
): LineageProceeds {
  const totals: LineageProceeds = {
    proceeds_milli: null,
    proceeds_estimated: 0,
    last_charge_day: -1,
    is_final: true,
  }
  for (const transactionFlows of Map.groupBy(flows, ({ transaction_id }) => transaction_id).values()) {
    const charged = transactionFlows.find((one) => !isRefundFlow(one))
    if (charged === undefined) continue
    totals.last_charge_day = Math.max(totals.last_charge_day, Math.floor(charged.at / DAY_MS))
    const net = netProceeds(charged, transactionFlows, context)
    if (net !== null) {
      totals.proceeds_milli = (totals.proceeds_milli ?? 0) + net.base_milli
      if (net.basis === 'estimated') totals.proceeds_estimated += 1
    }
    if (net !== null ? !net.is_final : charged.kind !== 'unpriced') totals.is_final = false
  }
  return totals
}
