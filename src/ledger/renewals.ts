/** Stores every distinct renewal info that Apple signed. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Notification } from '../apple/notification.ts'
import type { Renewal } from '../apple/payloads.ts'
import { bound, type Store } from '../store/store.ts'

export function openRenewals(store: Store) {
  const insert = store.prepare<object>(`
    insert or ignore into renewals
           ( app_id,  environment,  original_transaction_id,  signed_at,  sha256,  product_id,  next_product_id,
             auto_renew_status,  expiration_intent,  in_billing_retry,  grace_until_at,  price_increase_status,
             renews_at,  renewal_price_milli,  currency,  offer_type,  offer_id,  offer_discount,  offer_period,
             recent_start_at,  billing_plan,  payload_id)
    values (:app_id, :environment, :original_transaction_id, :signed_at, :sha256, :product_id, :next_product_id,
            :auto_renew_status, :expiration_intent, :in_billing_retry, :grace_until_at, :price_increase_status,
            :renews_at, :renewal_price_milli, :currency, :offer_type, :offer_id, :offer_discount, :offer_period,
            :recent_start_at, :billing_plan, :payload_id)`)

  const latestGrace = store.prepare<[string, string, string, number, number], { until_at: number | null }>(`
    select max(grace_until_at) as until_at from renewals
    where app_id = ${bound} and environment = ${bound} and original_transaction_id = ${bound}
      and signed_at >= ${bound} and signed_at <= ${bound}`)

  /** Stores one renewal info of an app. Does nothing if it is already stored. */
  function save(app_id: string, verified: Verified<Renewal>, payload_id: number): void {
    const { auto_renew, in_billing_retry, app_account_token, app_transaction_id, ...renewal } =
      verified.payload
    insert.run({
      ...renewal,
      app_id,
      auto_renew_status: auto_renew === null ? null : Number(auto_renew),
      in_billing_retry: Number(in_billing_retry),
      sha256: Buffer.from(verified.sha256, 'hex'),
      payload_id,
    })
  }

  /**
   * When the grace period of a notification's transaction ends (milliseconds), as the stored renewal infos show it that
   * Apple signed between the purchase and the notification; null if none has a grace period.
   */
  function graceEnd(app_id: string, { transaction, signed_at }: Notification): number | null {
    if (transaction === null) return null
    const { environment, original_transaction_id, purchased_at } = transaction.payload
    const until = signed_at ?? transaction.payload.signed_at
    const row = latestGrace.get(app_id, environment, original_transaction_id, purchased_at, until)
    return row?.until_at ?? null
  }

  return { save, graceEnd }
}
