/** Converts the money of cohorts to proceeds, after tax and Apple’s commission. */
import { yieldToEventLoop } from '../../turns.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Shares } from '../reports/shares.ts'
import type { CohortCellStore, CohortSum, CohortSumQuery } from './cells.ts'

/** How many sums are converted in one turn of the event loop. */
const SUMS_PER_TURN = 2_000

/**
 * The proceeds of charges less refunds, by certainty. `ratio`: reports contain the product in the country. `estimated`:
 * charges less the configured commission.
 */
type ProceedsShares = { ratio: number; estimated: number }

/**
 * Converts the sums of each product in each country to proceeds, one sum for each cohort and position. `dayOf` returns the
 * day of a sum’s charges. Yields to the event loop between slices.
 */
export async function cohortProceeds(
  cells: CohortCellStore,
  { proceedsRatioOf }: Shares,
  query: CohortSumQuery & { currency: string },
  dayOf: (sum: CohortSum) => DayNumber,
): Promise<{ sums: CohortSum[]; known: ProceedsShares }> {
  const sums: CohortSum[] = []
  const known: ProceedsShares = { ratio: 0, estimated: 0 }
  let count = 0
  for (const { sums: groupSums, ...productAndCountry } of cells.sumsByProduct(query)) {
    for (const sum of groupSums) {
      const { toProceeds, isEstimated } = proceedsRatioOf({
        ...productAndCountry,
        currency: query.currency,
        day: dayOf(sum),
      })
      const [charged_milli, refunded_milli] = [toProceeds(sum.charged_milli), toProceeds(sum.refunded_milli)]
      const prorated_milli = toProceeds(sum.prorated_milli)
      known[isEstimated ? 'estimated' : 'ratio'] += charged_milli - refunded_milli - prorated_milli
      sums.push({ ...sum, charged_milli, refunded_milli, prorated_milli })
    }
    count += groupSums.length
    if (count < SUMS_PER_TURN) continue
    count = 0
    await yieldToEventLoop()
  }
  return { sums, known }
}
