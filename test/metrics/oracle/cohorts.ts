/** The oracle’s customers and cohorts: retention, lifetime value, revenue per payer. */
import { type Days, mondayOf, nextDay, type Span } from './days.ts'
import { type Worth, worthAt } from './mrr_values.ts'
import type { Concluded, Mark } from './oracle.ts'
import { isRenewalOf } from './segments.ts'
import { type Filter, isWithin, share, sumOf } from './sums.ts'

type Deps = {
  concluded: readonly Concluded[]
  marks: readonly Mark[]
  days: Days
  now: number
  environment: string
  customers: ReadonlyMap<string, string>
}

type Grain = 'week' | 'month' | 'year'

/**
 * `cohort`: '2026-01-05' (a Monday), '2026-01' or '2026'. For each renewal `k` (0 is the first payment): how many were
 * due by now, how many of those were paid then, and how many had been charged for more than k periods by now.
 */
type Retained = {
  cohort: string
  size: number
  renewals: { k: number; due: number; held: number; charged: number }[]
}

/** Amounts by currency and in the base currency; refunds are above zero. */
type Value = {
  charged: Record<string, number>
  refunded: Record<string, number>
  prorated: Record<string, number>
  charged_base_milli: number
  refunded_base_milli: number
  prorated_base_milli: number
}

/** `first_paid_at`: the first charge with a known price. */
type CustomerValue = Value & { customer: string; lineages: string[]; first_paid_at: number | null }

const CHARGES = ['revenue.new', 'revenue.renewal', 'revenue.one_time']
const GIVEN_BACK = ['revenue.refund', 'revenue.refund_reversed', 'revenue.proration']

export function openCohorts({ concluded, marks, days, now, environment, customers }: Deps) {
  function cohortOf(at: number, grain: Grain): string {
    const on = days.dayOf(at)
    return grain === 'week' ? mondayOf(on) : on.slice(0, grain === 'month' ? 7 : 4)
  }

  /** Subscriptions with a known start, by their first payment. */
  function retention(grain: Grain, filter: Filter = {}): Retained[] {
    const lives = concluded.flatMap(({ lineage, worths }) => {
      const first = worths.find(({ is_paid }) => is_paid)
      if (!first || first.from > now || !lineage.is_whole || !isOf(first, filter)) return []
      return [{ cohort: cohortOf(first.from, grain), first, worths }]
    })
    return [...Map.groupBy(lives, ({ cohort }) => cohort)]
      .map(([cohort, own]) => ({ cohort, size: own.length, renewals: renewalsOf(own) }))
      .sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
  }

  function renewalsOf(own: readonly { first: Worth; worths: readonly Worth[] }[]): Retained['renewals'] {
    const renewals: Retained['renewals'] = []
    for (let k = 0; ; k += 1) {
      const due = own.filter(({ first }) => dueAt(first, k) <= now)
      if (due.length === 0) return renewals
      const held = due.filter(({ first, worths }) => worthAt(worths, dueAt(first, k))?.is_paid)
      const charged = due.filter(({ worths }) => chargesOf(worths, now) > k)
      renewals.push({ k, due: due.length, held: held.length, charged: charged.length })
    }
  }

  const customerOf = (name: string): string => customers.get(`${environment} ${name}`) ?? name
  const isCharge = ({ measure }: Mark): boolean => CHARGES.includes(measure)
  const isMoney = (one: Mark): boolean => isCharge(one) || GIVEN_BACK.includes(one.measure)

  /** Every customer with known amounts. */
  function customerValues(filter: Filter = {}): CustomerValue[] {
    const money = marks.filter((one) => isMoney(one) && isWithin(one, filter))
    return [...Map.groupBy(money, ({ lineage }) => customerOf(lineage))].map(([customer, own]) => ({
      customer,
      lineages: [...new Set(own.map(({ lineage }) => lineage))].sort(),
      first_paid_at: least(own.filter(isCharge).map(({ at }) => at)),
      ...worthOf(own),
    }))
  }

  /** The amounts of one lineage. */
  const lineageValue = (name: string): Value =>
    worthOf(marks.filter((one) => one.lineage === name && isMoney(one)))

  /**
   * Σ charged − refunded (− prorated) through a number of days after the first purchase, which is day 0, of the
   * customers whose first charge was in the cohort. `is_complete`: that day is over for all of them.
   */
  function realizedLtv(grain: Grain, cohort: string, after_days: number, filter: Filter = {}) {
    const of = customerValues(filter).flatMap(({ customer, first_paid_at }) =>
      first_paid_at !== null && cohortOf(first_paid_at, grain) === cohort
        ? [{ customer, first_paid_at }]
        : [],
    )
    const until = new Map(
      of.map(({ customer, first_paid_at }) => [customer, endAfter(first_paid_at, after_days)]),
    )
    const money = marks.filter(
      (one) => isMoney(one) && isWithin(one, filter) && one.at < (until.get(customerOf(one.lineage)) ?? 0),
    )
    const value = worthOf(money)
    const proceeds = marks.filter(
      (one) => isWithin(one, filter) && one.at < (until.get(customerOf(one.lineage)) ?? 0),
    )
    const net_base_milli = value.charged_base_milli - value.refunded_base_milli
    return {
      customers: of.length,
      ...value,
      net_base_milli,
      proceeds_base_milli: proceedsIn(proceeds),
      per_customer_base_milli: share(net_base_milli, of.length),
      is_complete: [...until.values()].every((at) => at <= now),
    }
  }

  /** The end of the day `days` after that of `at`. */
  function endAfter(at: number, after_days: number): number {
    let on = days.dayOf(at)
    for (let left = after_days; left > 0; left -= 1) on = nextDay(on)
    return days.endOf(on)
  }

  /** Revenue (charges − refunds, each on its own day) ÷ the customers charged in the span. */
  function arppu({ from_on, until_on }: Span, filter: Filter = {}) {
    const [from, until] = [days.startOf(from_on), days.endOf(until_on)]
    const money = marks.filter(
      (one) => isMoney(one) && isWithin(one, filter) && one.at >= from && one.at < until,
    )
    const payers = new Set(money.filter(isCharge).map(({ lineage }) => customerOf(lineage))).size
    const { charged_base_milli, refunded_base_milli } = worthOf(money)
    const net_base_milli = charged_base_milli - refunded_base_milli
    return { payers, net_base_milli, base_milli: share(net_base_milli, payers) }
  }

  return { retention, customerValues, lineageValue, realizedLtv, arppu, cohortOf }
}

function worthOf(money: readonly Mark[]): Value {
  const sum = (...measures: string[]) => sumOf(money.filter(({ measure }) => measures.includes(measure)))
  const [charged, refunded] = [sum(...CHARGES), sum('revenue.refund', 'revenue.refund_reversed')]
  const prorated = sum('revenue.proration')
  return {
    charged: charged.milli,
    refunded: refunded.milli,
    prorated: prorated.milli,
    charged_base_milli: charged.base_milli,
    refunded_base_milli: refunded.base_milli,
    prorated_base_milli: prorated.base_milli,
  }
}

/** Σ proceeds of charges less those of what was given back. */
export const proceedsIn = (marks: readonly Mark[]): number =>
  marks.reduce((sum, { measure, base_milli }) => {
    const [what, kind = ''] = measure.split('.')
    if (what !== 'proceeds') return sum
    if (['new', 'renewal', 'one_time'].includes(kind)) return sum + (base_milli ?? 0)
    return ['refund', 'refund_reversed', 'proration'].includes(kind) ? sum - (base_milli ?? 0) : sum
  }, 0)

const least = (all: readonly number[]): number | null => (all.length === 0 ? null : Math.min(...all))

const isOf = (first: Worth, { product_id, storefront, app_id, period, offer, only }: Filter): boolean =>
  (app_id ?? first.by.app_id) === first.by.app_id &&
  (product_id ?? first.by.product_id) === first.by.product_id &&
  (storefront ?? first.by.storefront) === first.by.storefront &&
  (period ?? first.period) === first.period &&
  (offer ?? first.kind) === first.kind &&
  (only?.(first.by) ?? true)

/** Charged spans. A replaced one is not renewed. */
function chargesOf(worths: readonly Worth[], now: number): number {
  const paid = worths.filter(({ is_paid, from }) => is_paid && from <= now)
  return paid.filter(({ by, to }, index) => {
    const next = paid[index + 1]
    return next === undefined || to !== next.from || isRenewalOf(next.by, by)
  }).length
}

/** When the k-th renewal after a first payment is due. */
function dueAt({ from, period }: Worth, k: number): number {
  const count = k * Number(/\d+/.exec(period ?? 'P1M')?.[0] ?? 1)
  const unit = period?.at(-1) ?? 'M'
  if (unit === 'D' || unit === 'W') return from + count * (unit === 'W' ? 7 : 1) * 86_400_000
  const date = new Date(from)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsIn(count, unit) + 1, 0))
  const day = Math.min(date.getUTCDate(), last.getUTCDate())
  return Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), day) + (from % 86_400_000)
}

const monthsIn = (count: number, unit: string): number => (unit === 'Y' ? 12 * count : count)
