/** What is said of the refunds of a range, of which some days may not be known. */
import type { InferOutput } from 'valibot'
import type { RefundsAnswer } from '../../../api/metrics/refund_answers.ts'
import { isWhollyKnown } from '../../../metrics/unknown_reasons.ts'
import { count, money, plural, signedMoney } from '../words.ts'

export type Answer = InferOutput<typeof RefundsAnswer>
export type Sums = NonNullable<Answer['totals']>

/** Whether the refunds of every day are known, as far as a day that is not over can be. */
export const areAllKnown = ({ reasons }: Pick<Answer, 'reasons'>): boolean =>
  isWhollyKnown(reasons.map(({ reason }) => reason))

/** What a card without refunds says. `isNone`: for certain. */
export function noneText(answer: Pick<Answer, 'reasons' | 'totals'>): { isNone: boolean; title: string } {
  if (answer.totals === null) return { isNone: false, title: 'The refunds of these days are not known' }
  const isNone = areAllKnown(answer)
  return { isNone, title: isNone ? 'No refunds in these days' : 'No known refunds in these days' }
}

/** The sums of a range, above the table of its refunds. */
export function totalsText({
  totals,
  currency,
  reasons,
}: Pick<Answer, 'totals' | 'currency' | 'reasons'>): string {
  if (totals === null) return 'Not all refunds of these days are known, so they have no sum.'
  const { base_milli, proceeds_milli, mrr_milli, unpriced } = totals
  const sums = `${money(base_milli, currency)} gross, ${money(proceeds_milli, currency)} in proceeds, MRR ${signedMoney(mrr_milli, currency)}`
  const unknown = unpriced > 0 ? `. ${count(unpriced)} without a known amount` : ''
  const days = areAllKnown({ reasons }) ? '' : 'On the days that are known: '
  return `${days}${rowsText(totals)}, ${sums}${unknown}`
}

/** Counts the rows of the table: a reversal has a row of its own, and may be of a refund in earlier days. */
const rowsText = ({ count: net, reversed }: Sums): string =>
  [plural(net + reversed, 'refund'), reversed > 0 && plural(reversed, 'reversal')]
    .filter(Boolean)
    .join(' and ')
