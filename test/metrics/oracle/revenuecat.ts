/**
 * RevenueCat's own predicates, as it publishes them with its scheduled data exports, in plain SQL over the same tables
 * (https://www.revenuecat.com/docs/integrations/scheduled-data-exports, queries 10 to 14):
 *
 *   active on D: date(effective_end) > D and date(start) <= D and not trial and effective_end > start
 *                and ownership <> 'FAMILY_SHARED' and store <> 'promotional' and not sandbox
 *   MRR on D:    Σ price × factor of these; the factor by the product's duration, and by the days from start to end
 *                where it is an introductory offer or the duration is not known
 *   trials on D: the same with trial instead of not trial
 *   revenue:     Σ price on the purchase date − Σ price on the refund date
 */
import type { Store } from '../../../src/store/store.ts'
import type { Worth } from './mrr_values.ts'
import type { Oracle } from './oracle.ts'

/** A transaction as RevenueCat counts it. `times`: the factor that makes its price monthly. */
type Counted = {
  transaction_id: string
  app_id: string
  original_transaction_id: string
  product_id: string
  start: number
  end: number
  effective_end: number
  is_trial: 0 | 1
  is_free: 0 | 1
  price_milli: number | null
  currency: string | null
  duration: string | null
  /** When the lineage’s next transaction was bought. */
  next_at: number | null
}

const COUNTED = `
with ordered as (
  select t.*, lead(purchased_at) over (partition by t.app_id, t.environment, t.original_transaction_id
    order by purchased_at, length(transaction_id), transaction_id) as next_at
  from transactions t
  where environment = 'production' and kind = 'Auto-Renewable Subscription' and ownership <> 'FAMILY_SHARED')
select transaction_id, o.app_id, original_transaction_id, o.product_id, purchased_at as start, expires_at as end,
  min(ifnull(revoked_at, 9e15), max(expires_at, ifnull((select max(grace_until_at) from renewals r
    where r.app_id = o.app_id and r.environment = o.environment
      and r.original_transaction_id = o.original_transaction_id
      and r.signed_at >= o.purchased_at and r.signed_at < ifnull(o.next_at, 9e15)), 0))) as effective_end,
  ifnull(offer_type = 1 and offer_discount = 'FREE_TRIAL', 0) as is_trial,
  ifnull(offer_discount = 'FREE_TRIAL', 0) as is_free,
  price_milli, currency, next_at,
  case when offer_type is null then iif(billing_plan = 'MONTHLY', 'P1M', p.period) end as duration
from ordered o left join products p on p.app_id = o.app_id and p.product_id = o.product_id`

const countedBy = (store: Store): Counted[] => store.prepare<[], Counted>(COUNTED).all()

const DAY = 86_400_000
const dateOf = (at: number): number => Math.floor(at / DAY)

/** Whether it is active at the end of that day (days since 1970-01-01 in UTC). */
const isActiveOn = ({ start, effective_end }: Counted, day: number): boolean =>
  dateOf(effective_end) > day && dateOf(start) <= day && effective_end > start

const BY_DURATION: Record<string, number> = {
  P1D: 30,
  P3D: 10,
  P1W: 4,
  P2W: 2,
  P4W: 1,
  P1M: 1,
  P2M: 1 / 2,
  P3M: 1 / 3,
  P6M: 1 / 6,
  P1Y: 1 / 12,
}
const BY_DAYS: readonly (readonly [least: number, most: number, times: number])[] = [
  ...([
    [0, 1, 30],
    [3, 3, 10],
    [6, 8, 4],
    [12, 16, 2],
    [27, 33, 1],
  ] as const),
  ...([
    [58, 62, 1 / 2],
    [88, 95, 1 / 3],
    [179, 185, 1 / 6],
    [363, 375, 1 / 12],
  ] as const),
]

/** The factor that makes a price monthly. */
function timesOf({ duration, start, end }: Counted): number {
  const days = Math.round((end - start) / DAY)
  const bucket = BY_DAYS.find(([least, most]) => days >= least && days <= most)?.[2]
  return (duration === null ? undefined : BY_DURATION[duration]) ?? bucket ?? 28 / days
}

/** Amounts by currency, production only: charges, and the whole price of all refunded transactions. */
export function revenueBy(store: Store, now: number) {
  const sums = (also: string) =>
    store
      .prepare<[number], Sum>(`
        select currency, sum(price_milli) as milli from transactions
        where environment = 'production' and ownership <> 'FAMILY_SHARED' and price_milli > 0
          and purchased_at <= ? ${also}
        group by currency order by currency`)
      .all(now)
  return { charged: sums(''), refunded: sums('and revoked_at is not null') }
}

type Sum = { currency: string; milli: number }
export const charged = (sums: readonly Sum[]): Record<string, number> =>
  Object.fromEntries(sums.map(({ currency, milli }) => [currency, milli]))

type CountComparison = { unexplained: string[]; reasons: Record<string, number> }

/**
 * Compares both counts of each transaction on each day on which either counts it; returns how often each reason
 * applies.
 */
export function compareCounts(store: Store, oracle: Oracle, from: number, until: number): CountComparison {
  const theirs = countedBy(store)
  const ours = new Map(
    oracle.concluded.flatMap(({ worths }) =>
      worths.map((worth) => [worth.by.transaction_id, worth] as const),
    ),
  )
  const found: CountComparison = { unexplained: [], reasons: {} }
  const countReason = (reason: string | null, what: unknown): void => {
    if (reason === '') found.unexplained.push(JSON.stringify(what))
    else if (reason !== null) found.reasons[reason] = (found.reasons[reason] ?? 0) + 1
  }
  for (let day = dateOf(from); day < dateOf(until); day += 1) {
    for (const one of theirs) {
      const worth = ours.get(one.transaction_id)
      const reason = reasonFor(one, worth, day)
      countReason(reason, { day, one, worth })
      if (reason === 'same' && worth) countReason(amountReasonFor(one, worth), { one, worth })
    }
  }
  return found
}

/**
 * Why only one of them counts a transaction on a day: 'same' where both do, 'trial' where both do as a trial, null
 * where neither does, '' without an explanation.
 */
function reasonFor(one: Counted, worth: Worth | undefined, day: number): string | null {
  const last = (day + 1) * DAY - 1
  const isAlive = worth !== undefined && worth.from <= last && last < worth.to
  if (!isActiveOn(one, day)) return isAlive ? '' : null
  if (isAlive) return isOfOneKind(one, worth) ? kindFor(one) : ''
  if (one.next_at !== null && one.next_at <= last) return 'replaced'
  return worth !== undefined && worth.from > last ? 'not begun' : ''
}

const kindFor = ({ is_trial, is_free }: Counted): string => (is_trial ? 'trial' : is_free ? 'free' : 'same')
const isOfOneKind = ({ is_trial, is_free }: Counted, { kind, is_paid }: Worth): boolean =>
  (kind === 'trial') === (is_trial === 1) && is_paid === (is_free === 0)

function amountReasonFor(one: Counted, worth: Worth): string | null {
  if (one.price_milli === null || worth.milli === null) return worth.milli === null ? null : ''
  const [times, amount] = [timesOf(one), one.price_milli * timesOf(one)]
  if (Math.abs(amount - worth.milli) <= 0.5) return 'same amount'
  const days = Math.round((one.end - one.start) / DAY)
  return times === 28 / days || one.duration === null ? 'length' : ''
}
