/** Reads the failed payments of subscriptions, and whether Apple collected the payments later. */
import type { LineageKey } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { Calendar, DayNumber } from '../lineage/calendar.ts'
import { signedWithin } from '../lineage/signing.ts'

/**
 * A failed payment. `day`: when the payment was due. `outcome`: the number of the day (from 1) on which it was paid;
 * -1: not paid; null: still unknown.
 */
export type Failure = readonly [
  day: DayNumber,
  product_id: string,
  storefront: string,
  outcome: number | null,
]

type RenewalInfo = { signed_at: number; in_billing_retry: number | null; expiration_intent: number | null }
type Purchase = { product_id: string; storefront: string | null; purchased_at: number; expires_at: number }

const DAY_MS = 86_400_000
/** Apple retries a payment for 60 days. */
export const RETRY_DAYS = 60
/** The outcome of a payment that Apple stopped retrying, or that was paid after more than `RETRY_DAYS`. */
const NOT_RECOVERED = -1

export function openFailures(store: Store) {
  const lineage = `app_id = ${bound} and environment = ${bound} and original_transaction_id = ${bound}`
  const firstRetry = store.prepare<[string, string, string], { signed_at: number }>(
    `select signed_at from renewals where ${lineage} and in_billing_retry = 1 limit 1`,
  )
  const infos = store.prepare<[string, string, string], RenewalInfo>(`
    select signed_at, in_billing_retry, expiration_intent from renewals where ${lineage} order by signed_at, sha256`)
  const purchases = store.prepare<[string, string, string], Purchase>(`
    select product_id, storefront, purchased_at, expires_at from transactions
    where ${lineage} and expires_at is not null order by purchased_at, expires_at`)

  /** The failed payments of one lineage, in order. */
  function read({ app_id, environment, original_transaction_id }: LineageKey, calendar: Calendar): Failure[] {
    const key = [app_id, environment, original_transaction_id] as const
    if (firstRetry.get(...key) === undefined) return []
    return failuresOf(purchases.all(...key), infos.all(...key), calendar)
  }

  return { read }
}

/** The failed payments of a lineage. `purchases` and `infos` are in order. */
function failuresOf(
  purchases: readonly Purchase[],
  infos: readonly RenewalInfo[],
  { dayOf }: Pick<Calendar, 'dayOf'>,
): Failure[] {
  return purchases.flatMap(({ product_id, storefront, purchased_at, expires_at }, index) => {
    const next = purchases[index + 1]
    const infosBetween = signedWithin(infos, purchased_at, next?.purchased_at ?? Infinity)
    if (!infosBetween.some(({ in_billing_retry }) => in_billing_retry === 1)) return []
    return [
      [dayOf(expires_at), product_id, storefront ?? '', outcomeOf(expires_at, next, infosBetween)] as const,
    ]
  })
}

function outcomeOf(
  expires_at: number,
  next: Purchase | undefined,
  infos: readonly RenewalInfo[],
): number | null {
  const last = infos.at(-1)
  // Apple stopped retrying and sent an expiration reason. The kind of reason does not matter.
  if (last?.in_billing_retry === 0 && last.expiration_intent !== null) return NOT_RECOVERED
  if (next === undefined) return null
  const days = Math.floor(Math.max(0, next.purchased_at - expires_at) / DAY_MS) + 1
  return days <= RETRY_DAYS ? days : NOT_RECOVERED
}
