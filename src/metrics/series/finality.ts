/** Finds the buckets whose amounts may still be converted at another rate. */
import { addDays } from '../../days.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Span } from '../../rates/series.ts'
import type { Store } from '../../store/store.ts'
import type { Kind } from '../definitions/definition.ts'
import { dayText } from '../lineage/calendar.ts'
import type { Bucket } from '../sums/tallies.ts'

const OPEN_END = '9999-12-31'

/** Whether a bucket has amounts whose exchange rate may still change. */
export type IsProvisional = (bucket: Bucket) => boolean

export function openFinality(store: Store, rates: Rates) {
  /** The spans of days for which a currency has no rate of that day. The last span has no end. */
  const spansOf = store.cached(['rates'], (currency): Span[] => {
    if (rates.rateOn(currency, OPEN_END)?.source === 'base') return []
    const currencyRates = rates.list().find((one) => one.currency === currency)
    // A currency without any rate is not converted. `not_converted` reports its amounts.
    if (!currencyRates?.newest_on) return []
    return [...currencyRates.gaps, { from_on: addDays(currencyRates.newest_on, 1), until_on: OPEN_END }]
  })

  /**
   * Returns a predicate for amounts converted from `currencies` to `base`. A level contains conversions of all earlier
   * days, a flow only those of its own days.
   */
  function provisionalIn(currencies: readonly string[], base: string, kind: Kind): IsProvisional {
    const foreign = currencies.filter((currency) => currency !== base)
    if (foreign.length === 0) return () => false
    const spans = [...foreign, base].flatMap(spansOf)
    return ({ from, until }) => {
      const [from_on, until_on] = [dayText(from), dayText(until)]
      return spans.some(
        (span) =>
          span.from_on <= until_on &&
          (span.until_on >= from_on || (kind === 'level' && span.until_on === OPEN_END)),
      )
    }
  }

  return { provisionalIn }
}
