/** What we remember: exchange rates, one a currency and day, never written again; what was imported can be taken back. */
import type { Clock } from '../clock.ts'
import { addDays } from '../days.ts'
import { openHook } from '../hooks.ts'
import { bound, type Store } from '../store/store.ts'
import type { Rate } from './judging.ts'
import { isCarried } from './series.ts'

/** `per_usd_nano`: billionths of the currency for one US dollar. `source`: who said so. */
type RateRow = { currency: string; rated_on: string; per_usd_nano: number; source: string }

/** What became of rates that were to be kept: `known` days had one, `settled` ones are carried over for good. */
export type AddedRates = { added: number; known: number; settled: number }

/**
 * What changed for a currency: from the first day with a new rate to the day before the next rate that was there
 * already, null where none was. `is_taken_back`: a rate is gone, so that what was said to be for good is not.
 */
export type RateChange = {
  currency: string
  from_on: string
  until_on: string | null
  is_taken_back: boolean
}

export type RateStore = ReturnType<typeof openRateStore>

export function openRateStore(store: Store, clock: Clock) {
  const columns = 'currency, rated_on, per_usd_nano, source'
  const insert = store.prepare<[string, string, number, string, number]>(
    `insert into rates (${columns}, recorded_at) values (?, ?, ?, ?, ?)`,
  )
  const upTo = store.prepare<[string, string], RateRow>(`
    select ${columns} from rates where currency = ${bound} and rated_on <= ${bound} order by rated_on desc limit 1`)
  const past = store.prepare<[string, string], RateRow>(`
    select ${columns} from rates where currency = ${bound} and rated_on > ${bound} order by rated_on limit 1`)
  const daysBetween = store
    .prepare<[string, string, string], string>(
      'select rated_on from rates where currency = ? and rated_on between ? and ? order by rated_on',
    )
    .pluck()
  const between = store.prepare<[string, string, string], RateRow>(
    `select ${columns} from rates where currency = ? and rated_on between ? and ? order by rated_on`,
  )
  const drop = store.prepare<[string, string]>('delete from rates where currency = ? and rated_on = ?')
  const everyCurrency = store.prepare<[], string>('select distinct currency from rates').pluck()
  const changed = openHook<[change: RateChange]>()

  /** The newest rate of a currency up to a day. */
  const last = (currency: string, on: string): RateRow | null => upTo.get(currency, on) ?? null
  /** The oldest after it. */
  const next = (currency: string, on: string): RateRow | null => past.get(currency, on) ?? null
  /** The days of a span that have a rate, oldest first. */
  const days = (currency: string, from_on: string, until_on: string): string[] =>
    daysBetween.all(currency, from_on, until_on)
  /** The rates of a span, oldest first. */
  const rows = (currency: string, from_on: string, until_on: string): RateRow[] =>
    between.all(currency, from_on, until_on)
  /** All currencies that have ever had a rate. */
  const currencies = (): string[] => everyCurrency.all()

  /**
   * Keeps rates of one currency, oldest first, where their day has none and none is carried over it for good: what a
   * day was once said to be for good it stays. To be called inside a unit of work, whole, since in the middle of it
   * such a day could look settled.
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
    changed.call({ currency, from_on: from.on, until_on, is_taken_back: false })
  }

  /** Takes the rate of a day away, inside a unit of work. What was converted at it is to be converted anew. */
  function remove({ currency, rated_on }: Pick<RateRow, 'currency' | 'rated_on'>): void {
    const [before, after] = [last(currency, addDays(rated_on, -1)), next(currency, rated_on)]
    drop.run(currency, rated_on)
    changed.call({
      currency,
      // The days before it may have been carried over for good because of it.
      from_on: before === null ? rated_on : addDays(before.rated_on, 1),
      until_on: after === null ? null : addDays(after.rated_on, -1),
      is_taken_back: true,
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
     * Calls the listener with each change, inside the unit of work that makes it: what it writes down is kept with the
     * rates or not at all, and long work is to be put off.
     */
    onChange: changed.add,
  }
}

type InsertOutcome = 'fresh' | 'known' | 'settled'

/** What the days that have a rate say about each of some more, both oldest first. */
function insertOutcomes(existing: readonly string[], rates: readonly Rate[]): InsertOutcome[] {
  let at = 0
  return rates.map(({ on }) => {
    while ((existing[at] ?? '9') < on) at += 1
    const [before, after] = [existing[at - 1], existing[at]]
    if (after === on) return 'known'
    return before !== undefined && after !== undefined && isCarried(before, after) ? 'settled' : 'fresh'
  })
}
