/** Stores every distinct renewal info that Apple signed. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Renewal } from '../apple/payloads.ts'
import type { Store } from '../store/store.ts'

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

  return { save }
}
