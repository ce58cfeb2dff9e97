/** Stores notifications, each with the subscription status that it contains. */
import type { Notification } from '../apple/notification.ts'
import type { Clock } from '../clock.ts'
import type { Origin } from '../events/vocabulary.ts'
import type { Store } from '../store/store.ts'

export function openNotifications(store: Store, clock: Clock) {
  // Apple may sign a notification again, so one uuid can have two signed texts. The row contains the text that was
  // signed last or, of two texts signed at the same time, the one with the greater SHA-256. signed_payloads has both.
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
      // Apple's first payloads had no date, so they are older than any payload with a date.
      signed_at: notification.signed_at ?? 0,
      received_at: clock(),
    })
  }

  return { save }
}
