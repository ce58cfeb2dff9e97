/** Stores every distinct renewal info that Apple signed. */
import type { Verified } from '../apple/jws/signed.ts'
import type { Environment, Renewal } from '../apple/payloads.ts'
import { bound, type Store } from '../store/store.ts'

/** A span of one lineage, both ends inclusive (milliseconds). */
type LineageSpan = {
  app_id: string
  environment: Environment
  original_transaction_id: string
  from: number
  until: number
}

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
   * The latest end of a grace period (milliseconds) among the renewal infos that Apple signed within a span; null if
   * none has one.
   */
  const graceUntil = ({ app_id, environment, original_transaction_id, from, until }: LineageSpan) =>
    latestGrace.get(app_id, environment, original_transaction_id, from, until)?.until_at ?? null

  return { save, graceUntil }
}
