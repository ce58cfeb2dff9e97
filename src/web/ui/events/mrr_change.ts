/** The change of MRR by an event, as a line of the feed shows it. */
import { signedMoney } from '../words.ts'
import type { FeedEvent } from './feed_event.ts'

export type Effect = FeedEvent['mrr_effect']

/**
 * The change of MRR in short: `MRR +$4.99`. Null if MRR does not change, or the change is not known; also if exchange rates
 * alone change it, as at each renewal in another currency.
 */
export function mrrChange(effect: Effect | undefined): string | null {
  if (!effect?.base_milli || effect.movements.every(({ kind }) => kind === 'fx')) return null
  return `MRR ${signedMoney(effect.base_milli, effect.currency)}`
}
