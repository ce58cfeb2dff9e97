/** Finds the buckets whose amounts may still be converted at another rate. */
import { addDays } from '../../days.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Span } from '../../rates/series.ts'
import type { Store } from '../../store/store.ts'
import type { Kind } from '../definitions/definition.ts'
import { dayText } from '../lineage/calendar.ts'
import type { Bucket } from '../sums/tallies.ts'

const END = '9999-12-31'

/** Whether a bucket has amounts whose exchange rate may still change. */
export type IsProvisional = (bucket: Bucket) => boolean

export function openFinality(store: Store, rates: Rates) {
  /** Spans of days without their own rate. The last one is open-ended. */
  const spansOf = store.cached(['rates'], (currency): Span[] => {
    if (rates.rateOn(currency, END)?.source === 'base') return []
    const known = rates.list().find((one) => one.currency === currency)
    // Without any rate nothing is converted; `not_converted` reports that.
    if (!known?.newest_on) return []
    return [...known.gaps, { from_on: addDays(known.newest_on, 1), until_on: END }]
  })

  /** For amounts converted from `currencies` to `base`. A level contains earlier conversions, a flow its days’. */
  function provisionalIn(currencies: readonly string[], base: string, kind: Kind): IsProvisional {
    const foreign = currencies.filter((currency) => currency !== base)
    if (foreign.length === 0) return () => false
    const spans = [...foreign, base].flatMap(spansOf)
    return ({ from, until }) => {
      const [from_on, until_on] = [dayText(from), dayText(until)]
      return spans.some(
        (span) =>
          span.from_on <= until_on &&
          (span.until_on >= from_on || (kind === 'level' && span.until_on === END)),
      )
    }
  }

  return { provisionalIn }
}
