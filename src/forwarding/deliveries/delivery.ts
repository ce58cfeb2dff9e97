/** A delivery as it is stored, without its body. */

/**
 * waiting: not finished. delivered: the receiver has it. failed: given up. dropped: the filter of the endpoint no longer
 * matches, or the endpoint was deleted. skipped: a person resumed the endpoint from now.
 */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'dropped' | 'skipped'

/** A delivery without its body. schema.sql documents the fields. */
export type Delivery = {
  id: number
  endpoint_id: string
  replay_id: string | null
  event_id: string
  seq: number | null
  payload_id: number | null
  type: string
  app_id: string | null
  environment: string | null
  key: string | null
  is_test: number
  is_remade: number
  state: DeliveryState
  reason: string | null
  attempts: number
  failures: number
  next_at: number | null
  body_bytes: number | null
  body_sha256: Buffer | null
  occurred_at: number
  created_at: number
  finished_at: number | null
  loss: 'open' | 'queued' | 'dismissed' | null
}

/** The columns of a delivery without its body. */
export const FIELDS = `id, endpoint_id, replay_id, event_id, seq, payload_id, type, app_id, environment, key, is_test, is_remade,
  state, reason, attempts, failures, next_at, body_bytes, body_sha256, occurred_at, created_at, finished_at, loss`
