/**
 * A second implementation of the metrics, slow and obvious, without shared code: it reads the raw tables whole, and
 * goes through all of them for each query.
 */
import type { Store } from '../../../src/store/store.ts'
import type { Factors } from './arithmetic.ts'
import { nearest } from './arithmetic.ts'
import { openCohorts } from './cohorts.ts'
import { openDays, type Span } from './days.ts'
import { customersIn, type Lineage, lineagesIn, openExchange, type Place, periodsIn } from './facts.ts'
import { backAfter, CHURNS, lossOfStart, uncountedMarks } from './losses.ts'
import { type Money, type MoneyKind, moneyInBase, moneyOf } from './money.ts'
import {
  type Movement,
  type MovementKind,
  movementsOf,
  type Terms,
  type Worth,
  worthsOf,
} from './mrr_values.ts'
import { openProceeds } from './proceeds.ts'
import { isSubscription, periodOf } from './segments.ts'
import { type Amount, type Filter, type Part, share, sumOf } from './sums.ts'

type OracleOptions = Place & {
  time_zone: string
  /** The base currency. */
  currency: string
  factors: Factors
  /** The current instant: later facts have not happened yet. */
  now: number
}

/** An event at an instant, or one that became known later. */
export type Mark = Part & { measure: string; at: number; known_at: number; lineage: string }

/** Everything that the oracle derives from one lineage. */
export type Concluded = { lineage: Lineage; worths: Worth[]; movements: Movement[]; money: Money[] }

export type Oracle = ReturnType<typeof openOracle>

const KINDS: readonly MovementKind[] = [
  ...(['new', 'opening', 'resubscribe', 'expansion', 'contraction', 'switched_out', 'switched_in'] as const),
  ...(['fx', 'repriced', 'churn_voluntary', 'churn_billing', 'churn_refund', 'churn_other'] as const),
]
const MONEY: readonly MoneyKind[] = [
  ...(['new', 'renewal', 'one_time', 'refund', 'refund_reversed', 'proration', 'unpriced'] as const),
]

/**
 * The metrics of an app (null: all) in one environment as of `now`. Days are in `time_zone`; a span includes both of
 * its days, and ends at `now` if it is not over. Amounts are thousandths.
 */
export function openOracle(store: Store, options: OracleOptions) {
  const { environment, time_zone, currency: base, factors, now } = options
  const days = openDays(time_zone)
  const exchange = openExchange(store)
  const periods = periodsIn(store)
  const customers = customersIn(store)

  function toBase(milli: number, currency: string, at: number): number | null {
    if (currency === base) return milli
    const [from, into] = [exchange(currency, days.dayOf(at)), exchange(base, days.dayOf(at))]
    return from === null || into === null ? null : nearest(BigInt(milli) * into, from)
  }

  const declaredPeriodOf = (app_id: string, product_id: string) => periods.get(`${app_id} ${product_id}`)
  const proceedsOf = openProceeds(store, toBase)
  const terms: Terms = { environment, factors, toBase, declaredPeriodOf }
  const concluded: Concluded[] = lineagesIn(store, options).map((lineage) => {
    const worths = worthsOf(lineage, terms)
    const movements = movementsOf(worths, lineage.is_whole, toBase)
    return { lineage, worths, movements, money: moneyOf(lineage) }
  })

  function part(by: Part['by'], amount: Partial<Part>): Part {
    const declaredPeriod = declaredPeriodOf(by.app_id, by.product_id)
    const period = isSubscription(by) ? (periodOf(by, environment, declaredPeriod) ?? '') : ''
    return { by, period, currency: '', milli: 0, base_milli: 0, count: 0, ...amount }
  }

  const partOfWorth = ({ by }: Worth, amount: Partial<Part>): Part => part(by, { count: 1, ...amount })

  const worthPart = ({ by, currency, milli, base_milli }: Worth): Part =>
    currency === null
      ? part(by, { count: 1 })
      : part(by, { count: 1, currency, milli: milli ?? 0, base_milli })

  const marks = concluded.flatMap((one) => marksOf(one)).filter(({ known_at }) => known_at <= now)

  function marksOf({ lineage, worths, movements, money }: Concluded): Mark[] {
    const mark = (measure: string, at: number, what: Part, known_at = at): Mark => {
      return { ...what, measure, at, known_at, lineage: lineage.name }
    }
    const moved = movements.map((one) => mark(`mrr.${one.kind}`, one.at, part(one.by, one)))
    const direct = movements
      .filter(
        ({ kind, at }) => kind === 'new' && !worths.some((one) => one.kind === 'trial' && one.to === at),
      )
      .map(({ at, by }) => mark('paid.direct', at, part(by, { count: 1 })))
    const trials = worths.flatMap((trial) => {
      if (trial.kind !== 'trial') return []
      const [one, isWon] = [part(trial.by, { count: 1 }), isConverted(trial, worths)]
      return [
        mark('trial.began', trial.from, one),
        mark('trial.ended', trial.to, one),
        mark(isWon ? 'trial.began_won' : 'trial.began_lost', trial.from, one, trial.to),
        ...(isWon ? [mark('trial.won', trial.to, one)] : []),
        ...worths
          .filter(({ from, is_paid }) => is_paid && from === trial.to)
          .map(({ by }) => mark('paid.after_trial', trial.to, part(by, { count: 1 }))),
      ]
    })
    const flows = money.flatMap((one) => {
      const { at, charged_at, kind, by, currency, milli } = one
      const base_milli = moneyInBase(one, money, toBase)
      const what = part(by, { currency, milli, base_milli, count: milli < 0 ? -1 : 1 })
      const { basis, ...amounts } = proceedsOf(one, money) ?? { basis: null }
      const marked = (name: string, on: number) => [
        mark(`revenue.${name}`, on, what, at),
        ...(basis === null ? [] : [mark(`proceeds.${name}.${basis}`, on, { ...what, ...amounts }, at)]),
      ]
      return [...marked(kind, at), ...(/^refund/.test(kind) ? marked('refunded_by_charge', charged_at) : [])]
    })
    return [...moved, ...direct, ...uncountedMarks(moved, worths, days, partOfWorth), ...trials, ...flows]
  }

  const within = ({ from_on, until_on }: Span) => {
    const [from, until] = [days.startOf(from_on), days.endOf(until_on)]
    return ({ at }: { at: number }): boolean => at >= from && at < until
  }

  /** The amount of one measure in a span (`mrr.new`, `revenue.refund`, `trial.began`). */
  const amountIn = (measure: string, span: Span, filter: Filter = {}): Amount =>
    sumOf(marks.filter((one) => one.measure === measure).filter(within(span)), filter)

  /** Σ monthly value of the active paid spans at an instant; `count` is the active subscriptions. */
  const mrrAt = (at: number, filter: Filter = {}): Amount =>
    sumOf(aliveAt(at, ({ is_paid }) => is_paid).map(worthPart), filter)

  const aliveAt = (at: number, is: (worth: Worth) => boolean): Worth[] =>
    concluded.flatMap(({ worths }) => worths.filter((one) => is(one) && one.from <= at && at < one.to))

  /** The last instant of a day, or now. */
  const lastOf = (on: string): number => Math.min(days.endOf(on) - 1, now)

  /** MRR at the end of a day; `count` is the active subscriptions. */
  const mrr = (on: string, filter: Filter = {}): Amount => mrrAt(lastOf(on), filter)
  const activeSubscriptions = (on: string, filter: Filter = {}): number => mrr(on, filter).count
  /** Active at the end of a day. */
  const activeTrials = (on: string, filter: Filter = {}): number =>
    sumOf(
      aliveAt(lastOf(on), ({ kind }) => kind === 'trial').map(({ by }) => part(by, { count: 1 })),
      filter,
    ).count
  const newTrials = (span: Span, filter: Filter = {}): number => amountIn('trial.began', span, filter).count

  /** The trials that ended in the span, and those of them that became paid immediately. */
  function trialConversion(span: Span, filter: Filter = {}) {
    const [ended, converted] = [
      amountIn('trial.ended', span, filter).count,
      amountIn('trial.won', span, filter).count,
    ]
    return { ended, converted, rate: share(converted, ended) }
  }

  /** The trials that began in the span: converted + pending + lost = began. */
  function trialCohort(span: Span, filter: Filter = {}) {
    const count = (measure: string): number => amountIn(measure, span, filter).count
    const began = count('trial.began')
    const [converted, lost] = [count('trial.began_won'), count('trial.began_lost')]
    return { began, converted, pending: began - converted - lost, lost, rate: share(converted, began) }
  }

  /** Every kind of movement in the span, including those that are zero. */
  const movements = (span: Span, filter: Filter = {}): Record<MovementKind, Amount> =>
    record(KINDS, (kind) => amountIn(`mrr.${kind}`, span, filter))

  /** `new`, and all other movements as `churned`. */
  function twoBuckets(span: Span, filter: Filter = {}) {
    const bucket = (isNew: boolean): Amount =>
      sumOf(
        marks
          .filter(({ measure }) => measure.startsWith('mrr.') && (measure === 'mrr.new') === isNew)
          .filter(within(span)),
        filter,
      )
    return { new: bucket(true), churned: bucket(false) }
  }

  /**
   * The losses by the end of the span, or by now, of what was active at its start. Amounts by kind are above zero;
   * rates are null where nothing was active. `passing`: lost by its end, but not active at its start.
   */
  function churn(span: Span, filter: Filter = {}) {
    const from = days.startOf(span.from_on)
    const until = Math.min(days.endOf(span.until_on), now + 1)
    const ends = concluded.flatMap(({ lineage, worths }) => {
      const own = marks.filter((one) => one.lineage === lineage.name && CHURNS.includes(one.measure))
      const last = own.filter(within(span)).at(-1)
      if (last === undefined) return []
      const back = backAfter(last.at, worths)
      if (back !== null && back < until) return []
      return [{ measure: last.measure, there: lossOfStart(last.at, from, worths, partOfWorth) }]
    })
    const lost = (kinds: readonly string[] = CHURNS): Amount =>
      sumOf(
        ends.flatMap(({ measure, there }) => (there && kinds.includes(measure) ? [there] : [])),
        filter,
      )
    const [all, at_start] = [lost(), mrrAt(from - 1, filter)]
    return {
      at_start,
      lost: all,
      voluntary: lost(['mrr.churn_voluntary']),
      billing: lost(['mrr.churn_billing']),
      refund: lost(['mrr.churn_refund']),
      other: lost(['mrr.churn_other']),
      passing: ends.filter(({ there }) => there === null).length,
      rate: share(all.count, at_start.count),
      mrr_rate: share(all.base_milli, at_start.base_milli),
    }
  }

  /** (new + resubscribe + expansion) ÷ (contraction + churn), in the base currency. */
  function quickRatio(span: Span, filter: Filter = {}): number | null {
    const sum = (...kinds: string[]) =>
      kinds.reduce((total, kind) => total + amountIn(kind, span, filter).base_milli, 0)
    return share(sum('mrr.new', 'mrr.resubscribe', 'mrr.expansion'), -sum('mrr.contraction', ...CHURNS))
  }

  /**
   * Amounts by kind, refunds above zero, each on its own day or (`refunds: 'charge'`) on the day of the charge. `net`
   * is charges less refunds and prorations.
   */
  function revenue(span: Span, filter: Filter = {}, refunds: 'refund' | 'charge' = 'refund') {
    const parts = record(MONEY, (kind) => {
      const measure = kind === 'refund' && refunds === 'charge' ? 'refunded_by_charge' : kind
      // By the day of the charge, both are in `refund`.
      if (kind === 'refund_reversed' && refunds === 'charge') return sumOf([], filter)
      return amountIn(`revenue.${measure}`, span, filter)
    })
    const all = (sign: 1 | -1, kinds: readonly MoneyKind[]) =>
      kinds.reduce((sum, kind) => sum + sign * parts[kind].base_milli, 0)
    const net_base_milli =
      all(1, ['new', 'renewal', 'one_time']) + all(-1, ['refund', 'refund_reversed', 'proration'])
    return { ...parts, net_base_milli }
  }

  /** The charges in the span with a known price, and how many of them were refunded since, in part or in full. */
  function refundRate(span: Span, filter: Filter = {}) {
    const count = (...kinds: string[]) =>
      kinds.reduce((sum, kind) => sum + amountIn(`revenue.${kind}`, span, filter).count, 0)
    const [refunded, paid] = [count('refunded_by_charge'), count('new', 'renewal', 'one_time')]
    return { refunded, paid, rate: share(refunded, paid) }
  }

  const cohorts = openCohorts({ concluded, marks, days, now, environment, customers })

  return {
    days,
    marks,
    concluded,
    toBase,
    worthPart,
    amountIn,
    mrrAt,
    mrr,
    activeSubscriptions,
    activeTrials,
    newTrials,
    trialConversion,
    trialCohort,
    movements,
    twoBuckets,
    churn,
    quickRatio,
    revenue,
    refundRate,
    ...cohorts,
  }
}

const isConverted = (trial: Worth, worths: readonly Worth[]): boolean =>
  worths.some(({ from, is_paid }) => from === trial.to && is_paid)

function record<K extends string, V>(keys: readonly K[], of: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>
}
