/** Stored exchange rates, one for each currency and day. They never change; imported ones can be removed. */
import type { Clock } from '../clock.ts'
import { addDays } from '../days.ts'
import { openHook } from '../hooks.ts'
import { bound, type Store } from '../store/store.ts'
import type { Rate } from './judging.ts'
import { isCarried } from './series.ts'

/** `per_usd_nano`: billionths of the currency for one US dollar. `source`: where it is from. */
type RateRow = { currency: string; rated_on: string; per_usd_nano: number; source: string }

/** The outcome of adding rates. `known`: the day already had one. `settled`: an earlier rate is final for that day. */
export type AddedRates = { added: number; known: number; settled: number }

/**
 * A change of a currency: from the first day with a new rate to the day before the next existing rate (null if there
 * is none). `is_removal`: a rate was removed, so final conversions may change.
 */
export type RateChange = { currency: string; from_on: string; until_on: string | null; is_removal: boolean }

export type RateStore = ReturnType<typeof openRateStore>

/** Opens the stored rates. */
export function openRateStore(store: Store, clock: Clock) {
  const columns = 'currency, rated_on, per_usd_nano, source'
  const insert = store.prepare<[string, string, number, string, number]>(
    `insert into rates (${columns}, recorded_at) values (?, ?, ?, ?, ?)`,
  )
  const selectLast = store.prepare<[string, string], RateRow>(`
    select ${columns} from rates where currency = ${bound} and rated_on <= ${bound} order by rated_on desc limit 1`)
  const selectNext = store.prepare<[string, string], RateRow>(`
    select ${columns} from rates where currency = ${bound} and rated_on > ${bound} order by rated_on limit 1`)
  const selectDays = store
    .prepare<[string, string, string], string>(
      'select rated_on from rates where currency = ? and rated_on between ? and ? order by rated_on',
    )
    .pluck()
  const selectRows = store.prepare<[string, string, string], RateRow>(
    `select ${columns} from rates where currency = ? and rated_on between ? and ? order by rated_on`,
  )
  const drop = store.prepare<[string, string]>('delete from rates where currency = ? and rated_on = ?')
  const everyCurrency = store.prepare<[], string>('select distinct currency from rates').pluck()
  const changed = openHook<[change: RateChange]>()

  /** The newest rate of a currency on or before a day. */
  const last = (currency: string, on: string): RateRow | null => selectLast.get(currency, on) ?? null
  /** The oldest rate of a currency after a day. */
  const next = (currency: string, on: string): RateRow | null => selectNext.get(currency, on) ?? null
  /** The days of a span that have a rate, oldest first. */
  const days = (currency: string, from_on: string, until_on: string): string[] =>
    selectDays.all(currency, from_on, until_on)
  /** The rates of a span, oldest first. */
  const rows = (currency: string, from_on: string, until_on: string): RateRow[] =>
    selectRows.all(currency, from_on, until_on)
  /** All currencies that have a rate. */
  const currencies = (): string[] => everyCurrency.all()

  /**
   * Adds rates of one currency, oldest first. Skips days that have a rate, and days for which an earlier rate is final.
   * Call this inside a unit of work with all rates of the currency: a subset could make other days look final.
   */
  function add(rates: readonly Rate[], source: string): AddedRates {
    const [first, final] = [rates[0], rates.at(-1)]
    if (first === undefined || final === undefined) return { added: 0, known: 0, settled: 0 }
    const { currency } = first
    const around = {
      before: last(currency, first.on),
      after: next(currency, final.on),
      inside: days(currency, first.on, final.on),
    }
    const existing = [around.before?.rated_on, ...around.inside, around.after?.rated_on].filter(
      (on) => on !== undefined,
    )
    const outcomes = insertOutcomes(existing, rates)
    const fresh = rates.filter((_, index) => outcomes[index] === 'fresh')
    for (const { on, per_usd_nano } of fresh) insert.run(currency, on, per_usd_nano, source, clock())
    announceInserted(currency, fresh, existing)
    const count = (what: InsertOutcome) => outcomes.filter((one) => one === what).length
    return { added: fresh.length, known: count('known'), settled: count('settled') }
  }

  function announceInserted(currency: string, fresh: readonly Rate[], existing: readonly string[]): void {
    const [from, until] = [fresh[0], fresh.at(-1)]
    if (from === undefined || until === undefined) return
    const after = existing.find((on) => on > until.on)
    const until_on = after === undefined ? null : addDays(after, -1)
    changed.call({ currency, from_on: from.on, until_on, is_removal: false })
  }

  /** Removes the rate of a day. Inside a unit of work. Listeners must convert affected amounts again. */
  function remove({ currency, rated_on }: Pick<RateRow, 'currency' | 'rated_on'>): void {
    const [before, after] = [last(currency, addDays(rated_on, -1)), next(currency, rated_on)]
    drop.run(currency, rated_on)
    changed.call({
      currency,
      // This rate may have made the one before it final for the days between.
      from_on: before === null ? rated_on : addDays(before.rated_on, 1),
      until_on: after === null ? null : addDays(after.rated_on, -1),
      is_removal: true,
    })
  }

  return {
    last,
    next,
    days,
    rows,
    currencies,
    add,
    remove,
    /**
     * Calls the listener with each change, inside its unit of work: what it writes is stored with the rates, or not at
     * all. It must defer long work.
     */
    onChange: changed.add,
  }
}

type InsertOutcome = 'fresh' | 'known' | 'settled'

/** The outcome for each new rate, given the days that have one; both oldest first. */
function insertOutcomes(existing: readonly string[], rates: readonly Rate[]): InsertOutcome[] {
  let at = 0
  return rates.map(({ on }) => {
    while ((existing[at] ?? '9') < on) at += 1
    const [before, after] = [existing[at - 1], existing[at]]
    if (after === on) return 'known'
    return before !== undefined && after !== undefined && isCarried(before, after) ? 'settled' : 'fresh'
  })
}
