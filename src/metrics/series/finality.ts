/** What we compute: on which days amounts may yet be converted by another rate. */
import { addDays } from '../../days.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Span } from '../../rates/series.ts'
import type { Store } from '../../store/store.ts'
import type { Kind } from '../definitions/definition.ts'
import { dayText } from '../lineage/calendar.ts'
import type { Bucket } from '../sums/tallies.ts'

const END = '9999-12-31'

/** Whether a bucket has amounts that may yet be converted by another rate. */
export type IsProvisional = (bucket: Bucket) => boolean

export function openFinality(store: Store, rates: Rates) {
  /** Spans of days without a rate of their own, the last of which ends never. */
  const spansOf = store.cached(['rates'], (currency): Span[] => {
    if (rates.rateOn(currency, END)?.source === 'base') return []
    const known = rates.list().find((one) => one.currency === currency)
    // Without any rate nothing is converted, and that is told by itself.
    if (!known?.newest_on) return []
    return [...known.gaps, { from_on: addDays(known.newest_on, 1), until_on: END }]
  })

  /** Of amounts in `currencies`, told in `base`: a level has what was converted before, a flow that of its days. */
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
