/** Stores notifications, and the subscription status that each states. */
import type { Notification } from '../apple/notification.ts'
import type { Clock } from '../clock.ts'
import type { Origin } from '../events/vocabulary.ts'
import type { Store } from '../store/store.ts'

export function openNotifications(store: Store, clock: Clock) {
  // One uuid can have two texts, because Apple may sign a notification again. The row holds the newest signature; of
  // equal ones, the greater SHA-256. Both texts stay in signed_payloads.
  const put = store.prepare<object>(`
    insert into notifications ( app_id,  environment,  uuid,  type,  subtype,  original_transaction_id,  status,  signed_at,  sha256,  payload_id,  origin,  received_at,  problem)
    values                    (:app_id, :environment, :uuid, :type, :subtype, :original_transaction_id, :status, :signed_at, :sha256, :payload_id, :origin, :received_at, :problem)
    on conflict (app_id, environment, uuid) do update set
      type = excluded.type, subtype = excluded.subtype, original_transaction_id = excluded.original_transaction_id,
      status = excluded.status, signed_at = excluded.signed_at, sha256 = excluded.sha256,
      payload_id = excluded.payload_id, problem = excluded.problem
    where excluded.signed_at > signed_at or (excluded.signed_at = signed_at and excluded.sha256 > sha256)`)

  function save(
    app_id: string,
    notification: Notification,
    sha256: Buffer,
    payload_id: number,
    origin: Origin,
  ): void {
    const { uuid, type, subtype, status, environment, problem, transaction, renewal } = notification
    put.run({
      app_id,
      environment,
      uuid,
      type,
      subtype,
      status,
      problem,
      sha256,
      payload_id,
      origin,
      original_transaction_id:
        transaction?.payload.original_transaction_id ?? renewal?.payload.original_transaction_id ?? null,
      // Apple's first payloads had no date: they are older than anything dated.
      signed_at: notification.signed_at ?? 0,
      received_at: clock(),
    })
  }

  return { save }
}
