/** Computes the proceeds of charges, less refunds: of one charge from its flows, of a lineage from its rows. */
import { type Flow, isRefundFlow } from '../lineage/flows.ts'
import {
  PROCEEDS_PARTS,
  type ProceedsCertainty,
  type ProceedsSettings,
  proceedsOfFlow,
} from '../lineage/proceeds.ts'
import type { Measure, MetricRow } from '../lineage/rows.ts'

/**
 * The proceeds of a lineage’s charges. `proceeds_milli`: in thousandths of the base currency; null if no charge’s proceeds
 * are known. `proceeds_estimated`: the number of charges whose proceeds are estimated. `last_charge_day`: in UTC, -1
 * without a charge.
 */
export type LineageProceeds = {
  proceeds_milli: number | null
  proceeds_estimated: number
  last_charge_day: number
}

/**
 * What is left of a charge after tax and commission, in thousandths of the base currency, and its certainty:
 * `charged_base_milli` of the whole charge, `base_milli` after refunds.
 */
export type NetProceeds = { base_milli: number; charged_base_milli: number; basis: ProceedsCertainty }

const DAY_MS = 86_400_000
/** The measures of charges, whether their price is known or not. */
const CHARGES: ReadonlySet<Measure> = new Set([
  'revenue.new',
  'revenue.renewal',
  'revenue.one_time',
  'revenue.unpriced',
])

/** The proceeds of a charge, at the rate of its day; null if they are unknown. */
export function netProceeds(
  charged: Flow,
  flows: readonly Flow[],
  settings: ProceedsSettings,
): NetProceeds | null {
  const charge = proceedsOfFlow(charged, settings)
  if (charge === null || charge.base_milli === null) return null
  const returned = flows
    .filter(isRefundFlow)
    .reduce((sum, flow) => sum + (proceedsOfFlow(flow, settings)?.base_milli ?? 0), 0)
  const { base_milli, basis } = charge
  return { base_milli: base_milli - returned, charged_base_milli: base_milli, basis }
}

/** The proceeds of all charges of a lineage up to `now`; `rows` are all of its rows. */
export function lineageProceeds(rows: readonly MetricRow[], now: number): LineageProceeds {
  const totals: LineageProceeds = { proceeds_milli: null, proceeds_estimated: 0, last_charge_day: -1 }
  for (const { measure, on_at, base_milli, count } of rows) {
    if (on_at > now) continue
    if (CHARGES.has(measure))
      totals.last_charge_day = Math.max(totals.last_charge_day, Math.floor(on_at / DAY_MS))
    const proceeds = PROCEEDS_PARTS.get(measure)
    if (proceeds === undefined || base_milli === null) continue
    const { part, basis } = proceeds
    totals.proceeds_milli = (totals.proceeds_milli ?? 0) + (part === 'charged' ? base_milli : -base_milli)
    if (part === 'charged' && basis === 'estimated') totals.proceeds_estimated += count
  }
  return totals
}
