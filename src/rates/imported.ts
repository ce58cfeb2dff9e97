/** Checks whether an imported rate is plausible, by its neighbors, its peg and its magnitude. */
import { addDays } from '../days.ts'
import { BASE, PEGS } from './currencies.ts'
import { rateText } from './exact.ts'
import { contradictionWith, isAtPeg, isNear, type Rate } from './judging.ts'
import { peggedRate } from './pegs.ts'
import { expectedText, isLikelyInverted, isPlausible } from './sizes.ts'

type KnownRate = { rated_on: string; per_usd_nano: number; source: string }

/** The stored rates: the newest up to a day, and the oldest after it. */
export type KnownRates = {
  last(currency: string, on: string): KnownRate | null
  next(currency: string, on: string): KnownRate | null
}

/**
 * What a rate is compared with: the rate before it and the euro's rates in its file (for pegs), and the stored rates.
 */
type RateContext = { earlier: Rate | null; euros: readonly Rate[]; known: KnownRates }

/**
 * Why an imported rate is not plausible; null if it is. Ignores a stored rate of the same day: the stored rate stays,
 * and the import reports the difference.
 */
export function faultInImported(rate: Rate, { earlier, euros, known }: RateContext): string | null {
  const { currency, on, per_usd_nano } = rate
  const pegged = faultByPeg(rate, euros, known)
  if (pegged !== null) return pegged
  const around = [known.last(currency, addDays(on, -1)), known.next(currency, on)]
  const neighbours = around.flatMap((one) => (one !== null && isNear(one.rated_on, on) ? [one] : []))
  for (const neighbour of neighbours) {
    const fault = contradictionWith(neighbour, on, per_usd_nano)
    if (fault !== null)
      return `${currency} ${fault} (for one ${BASE}): one of them must be wrong${undoHint(currency, neighbour)}`
  }
  if (neighbours.length === 0 && !isPlausible(currency, per_usd_nano)) return faultOfSize(rate)
  const before = earlier && { rated_on: earlier.on, per_usd_nano: earlier.per_usd_nano }
  const fault = contradictionWith(before, on, per_usd_nano)
  return fault === null ? null : `${currency} ${fault} (for one ${BASE}): one of them must be wrong`
}

function faultByPeg(
  { currency, on, per_usd_nano }: Rate,
  euros: readonly Rate[],
  known: KnownRates,
): string | null {
  const peg = PEGS[currency]
  if (peg === undefined) return null
  const row = known.last('EUR', on)
  const stored = row !== null && isNear(row.rated_on, on) ? row.per_usd_nano : null
  const euro = euros.find((one) => one.on === on)?.per_usd_nano ?? stored
  const expected = peggedRate(currency, on, euro)
  if (expected === null || isAtPeg(per_usd_nano, expected.per_usd_nano)) return null
  return `one ${BASE} costs ${rateText(per_usd_nano)} ${currency} on ${on}, but one ${peg.anchor} is pegged at ${peg.rate} ${currency}`
}

function faultOfSize({ currency, on, per_usd_nano }: Rate): string {
  const message = `one ${BASE} costs ${rateText(per_usd_nano)} ${currency} on ${on}; expected ${expectedText(currency)}`
  return isLikelyInverted(currency, per_usd_nano) ? `${message}; check whether the rate is inverted` : message
}

const undoHint = (currency: string, { rated_on, source }: KnownRate): string =>
  source === 'import' ? `; to remove the imported one, run windfall rates remove ${currency} ${rated_on}` : ''
