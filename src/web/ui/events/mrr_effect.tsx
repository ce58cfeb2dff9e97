/** Shows what an event changes in MRR. */
import type { JSX } from 'preact'
import { useOverview } from '../overview.ts'
import { useScope } from '../scope.ts'
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

type EffectProps = { effect: Effect | undefined }

/** Renders an effect in the display currency, at the rate of the other figures of the view. */
function InDisplayCurrency({
  effect,
  render,
}: EffectProps & { render: (effect: Effect | undefined) => JSX.Element | null }): JSX.Element | null {
  const { scope } = useScope()
  const converted = useOverview(scope).overview?.converted
  if (!effect || scope.display === null || !converted || converted.from !== effect.currency)
    return render(effect)
  const shown = (milli: number | null): number | null =>
    milli === null ? null : Math.round(milli * Number(converted.rate))
  return render({
    ...effect,
    currency: scope.display,
    base_milli: shown(effect.base_milli),
    before_milli: shown(effect.before_milli),
    after_milli: shown(effect.after_milli),
  })
}

export const MrrChange = ({ effect }: EffectProps): JSX.Element | null =>
  effect?.base_milli ? <InDisplayCurrency effect={effect} render={renderChange} /> : null

const renderChange = (effect: Effect | undefined): JSX.Element | null => {
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
export const MrrFact = ({ effect }: EffectProps): JSX.Element | null => (
  <InDisplayCurrency effect={effect} render={renderFact} />
)

const renderFact = (effect: Effect | undefined): JSX.Element | null =>
  effect ? (
    <>
      <dt>MRR</dt>
      <dd>{sentenceOf(effect)}</dd>
    </>
  ) : null
