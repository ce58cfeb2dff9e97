/** Names the refunds of a day, of which reversals are subtracted. */

type RefundCounter = { label: string; value: number; milli: number; tone: string }

/** The counter of refunds less reversals. `milli` is what it adds to revenue. */
export function refundCounter({ count, milli }: { count: number; milli: number }): RefundCounter {
  if (count >= 0) return { label: 'Refunds', value: count, milli, tone: milli > 0 ? 'good' : 'bad' }
  return { label: count === -1 ? 'Refund reversed' : 'Refunds reversed', value: -count, milli, tone: 'good' }
}
