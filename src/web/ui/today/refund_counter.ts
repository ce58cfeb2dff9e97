/** Names the refunds of a day, of which reversals are subtracted. */

type Counted = { count: number | null; milli: number | null }
type RefundCounter = { label: string; value: number | null; milli: number | null; tone: string }

/** The counter of refunds less reversals. `milli` is what it adds to revenue. */
export function refundCounter({ count, milli }: Counted): RefundCounter {
  if (count === null || count >= 0)
    return { label: 'Refunds', value: count, milli, tone: (milli ?? 0) > 0 ? 'good' : 'bad' }
  return { label: count === -1 ? 'Refund reversed' : 'Refunds reversed', value: -count, milli, tone: 'good' }
}
