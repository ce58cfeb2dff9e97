/** Shows what an event changes in MRR. */
import type { JSX } from 'preact'
import { money, signedMoney } from '../words.ts'
import { type Effect, mrrChange } from './mrr_change.ts'

const KINDS: Record<string, string> = {
  new: 'New',
  opening: 'First known',
  resubscribe: 'Resubscribed',
  expansion: 'Expansion',
  contraction: 'Contraction',
  churn_voluntary: 'Canceled',
  churn_billing: 'Billing failed',
  churn_refund: 'Refunded',
  churn_other: 'Other churn',
  fx: 'Exchange rates',
  repriced: 'Price learned',
}

/** The kind of an effect; null without one. */
const kindOf = (effect: NonNullable<Effect>): string | null => KINDS[effect.kind ?? ''] ?? null

export const MrrChange = ({ effect }: { effect: Effect | undefined }): JSX.Element | null => {
  const change = mrrChange(effect)
  if (!effect || change === null) return null
  return (
    <span class="happened-mrr" title={kindOf(effect) ?? undefined}>
      {change}
    </span>
  )
}

/** The change in words, with the MRR of the subscription before and after. */
function sentenceOf(effect: NonNullable<Effect>): string {
  const { base_milli, before_milli, after_milli, currency, kind } = effect
  if (base_milli === null)
    return 'Not known: a price or an exchange rate is missing, or the change is in the future'
  if (kind === null) return 'No change'
  const levels = `from ${money(before_milli, currency)} to ${money(after_milli, currency)}`
  return [signedMoney(base_milli, currency), kindOf(effect), levels].filter(Boolean).join(' · ')
}

/** The line of an event’s facts. Empty for an event that cannot change MRR. */
export const MrrFact = ({ effect }: { effect: Effect | undefined }): JSX.Element | null =>
  effect ? (
    <>
      <dt>MRR</dt>
      <dd>{sentenceOf(effect)}</dd>
    </>
  ) : null
