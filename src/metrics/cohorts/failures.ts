/** Reads the failed payments of subscriptions, and whether Apple collected the payments later. */
import type { LineageKey } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { Calendar, DayNumber } from '../lineage/calendar.ts'
import { isRetry, isRetryEnd } from '../lineage/retries.ts'
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
  const periods = purchases.map((purchase, index) => periodOf(purchase, purchases[index + 1], infos))
  return [undefined, ...periods].flatMap((ended, index) => failureOf(ended, periods[index], dayOf))
}

/** A paid period. `ofStart`: the infos about the payment at its start; `ofEnd`: those about the payment at its end. */
type Period = Purchase & { ofStart: readonly RenewalInfo[]; ofEnd: readonly RenewalInfo[] }

/**
 * Apple dates some renewals that were paid late at the end of the period before. Infos signed in the first part of such a
 * period are about its own payment. Infos about the next payment are signed at most a day before that is due.
 */
function periodOf(purchase: Purchase, next: Purchase | undefined, infos: readonly RenewalInfo[]): Period {
  const { purchased_at, expires_at } = purchase
  const until = next?.purchased_at ?? Infinity
  const lead_ms = Math.min(DAY_MS, (expires_at - purchased_at) / 2)
  const middle = Math.min(until, Math.max(purchased_at, expires_at - lead_ms))
  return {
    ...purchase,
    ofStart: signedWithin(infos, purchased_at, middle),
    ofEnd: signedWithin(infos, middle, until),
  }
}

/** The failed payment between two periods. The first known period has none before it. */
function failureOf(ended: Period | undefined, next: Period | undefined, dayOf: Calendar['dayOf']): Failure[] {
  const known = ended ?? next
  if (known === undefined || ![...(ended?.ofEnd ?? []), ...(next?.ofStart ?? [])].some(isRetry)) return []
  const due_at = ended?.expires_at ?? known.purchased_at
  return [[dayOf(due_at), known.product_id, known.storefront ?? '', outcomeOf(due_at, ended, next)]]
}

function outcomeOf(due_at: number, ended: Period | undefined, next: Period | undefined): number | null {
  const last = ended?.ofEnd.at(-1)
  // Apple stopped retrying and sent an expiration reason. The kind of reason does not matter.
  if (last?.in_billing_retry === 0 && last.expiration_intent !== null) return NOT_RECOVERED
  if (next === undefined) return null
  const days = Math.floor(Math.max(0, paidAt(next) - due_at) / DAY_MS) + 1
  return days <= RETRY_DAYS ? days : NOT_RECOVERED
}

/** When the payment at a period’s start was collected: at its date, or when Apple’s retries ended within it. */
function paidAt({ purchased_at, ofStart, ofEnd }: Period): number {
  const retried = ofStart.findIndex(isRetry)
  const paid = retried < 0 ? undefined : [...ofStart.slice(retried), ...ofEnd].find(isRetryEnd)
  return paid?.signed_at ?? purchased_at
}
