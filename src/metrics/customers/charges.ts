/** What we compute: what the developer keeps of charges: proceeds, less what was given back. */
import { divideHalfEven } from '../../money.ts'
import { type Flow, isRefundFlow } from '../lineage/flows.ts'

/**
 * What the developer got of the charges of a lineage, in thousandths of the base currency; null where a rate is missing.
 * `last_charge_day`: in UTC, -1 where there is none. `is_final`: no later report can change it.
 */
export type LineageProceeds = {
  proceeds_milli: number | null
  proceeds_estimated: number
  last_charge_day: number
  is_final: boolean
}

/** What was charged, of what; amounts in thousandths of `currency`. */
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
 * What stays after tax and commission, in thousandths of the base currency, and how far that is known. `is_final`: no
 * later rate changes it.
 */
export type Proceeds = { base_milli: number; basis: 'exact' | 'ratio' | 'estimated'; is_final: boolean }
/** The proceeds of a charge in a base currency; null where there is no rate. */
export type ConvertProceeds = (charge: Charge, base: string) => Proceeds | null

const DAY_MS = 86_400_000

/** What stays of a charge and was not given back, at the rate of the day of the charge; null where nobody can say. */
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
  const part = BigInt(proceeds.base_milli) * BigInt(Math.max(0, milli - refunded))
  return { ...proceeds, base_milli: Number(divideHalfEven(part, BigInt(milli))) }
}

/** What the developer got of all charges of a lineage; `flows` are all of its flows. */
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
  for (const own of Map.groupBy(flows, ({ transaction_id }) => transaction_id).values()) {
    const charged = own.find((one) => !isRefundFlow(one))
    if (charged === undefined) continue
    totals.last_charge_day = Math.max(totals.last_charge_day, Math.floor(charged.at / DAY_MS))
    const net = netProceeds(charged, own, context)
    if (net !== null) {
      totals.proceeds_milli = (totals.proceeds_milli ?? 0) + net.base_milli
      if (net.basis === 'estimated') totals.proceeds_estimated += 1
    }
    if (net !== null ? !net.is_final : charged.kind !== 'unpriced') totals.is_final = false
  }
  return totals
}
