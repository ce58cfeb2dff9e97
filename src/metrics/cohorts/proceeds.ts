/** Converts the money of cohorts to proceeds, after tax and Apple’s commission. */
import { yieldToEventLoop } from '../../turns.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Shares } from '../reports/shares.ts'
import type { CohortCellStore, CohortSum, CohortSumQuery } from './cells.ts'

/** How many sums are converted in one turn of the event loop. */
const AT_ONCE = 2_000

/**
 * Charges less refunds, by certainty. ratio: reports contain the product in the country. estimated: the commission is
 * subtracted.
 */
type ProceedsShares = { ratio: number; estimated: number }

/**
 * Converts the sums of each product in each country to proceeds, one sum for each cohort and position. `dayOf` returns the
 * day of a sum’s charges. Yields to the event loop between slices.
 */
export async function cohortProceeds(
  cells: CohortCellStore,
  { leftOf }: Shares,
  query: CohortSumQuery & { currency: string },
  dayOf: (sum: CohortSum) => DayNumber,
): Promise<{ sums: CohortSum[]; known: ProceedsShares }> {
  const sums: CohortSum[] = []
  const known: ProceedsShares = { ratio: 0, estimated: 0 }
  let count = 0
  for (const { sums: own, ...productAndCountry } of cells.parts(query)) {
    for (const sum of own) {
      const { of, isEstimated } = leftOf({ ...productAndCountry, currency: query.currency, day: dayOf(sum) })
      const [charged_milli, refunded_milli] = [of(sum.charged_milli), of(sum.refunded_milli)]
      const prorated_milli = of(sum.prorated_milli)
      known[isEstimated ? 'estimated' : 'ratio'] += charged_milli - refunded_milli - prorated_milli
      sums.push({ ...sum, charged_milli, refunded_milli, prorated_milli })
    }
    count += own.length
    if (count < AT_ONCE) continue
    count = 0
    await yieldToEventLoop()
  }
  return { sums, known }
}
