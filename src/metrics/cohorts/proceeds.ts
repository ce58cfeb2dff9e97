/** What we compute: the money of cohorts as what is left of it after tax and Apple's commission. */
import { yieldToEventLoop } from '../../turns.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Shares } from '../reports/shares.ts'
import type { CohortCellStore, CohortSum, CohortSumQuery } from './cells.ts'

/** About so many sums are turned into proceeds in one turn of the event loop. */
const AT_ONCE = 2_000

/** How much of it is told by a report of the product in the country, and how much is estimated; charged less given back. */
type ProceedsShares = { ratio: number; estimated: number }

/**
 * The sums of one product in one country each, by cohort and place, as proceeds. `dayOf`: the day of a charge. Slices,
 * between which others get their turn.
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
  for (const { sums: own, ...place } of cells.parts(query)) {
    for (const sum of own) {
      const { of, isEstimated } = leftOf({ ...place, currency: query.currency, day: dayOf(sum) })
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
