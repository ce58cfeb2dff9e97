/** Faults of requests to Apple. */

/**
 * `unauthorized`: Apple rejects the key. `forbidden`: the key lacks a permission. `agreement`: the owner must accept an
 * agreement. `not_found`: HTTP 404. `rate_limited`: retry at `retry_at`. `unavailable`: retry later (5xx, network,
 * timeout). `refused`: any other error, for which a retry does not help. `unreadable`: a response of an unknown format.
 */
export type FaultKind =
  | 'unauthorized'
  | 'forbidden'
  | 'agreement'
  | 'not_found'
  | 'rate_limited'
  | 'unavailable'
  | 'refused'
  | 'unreadable'

type AppleFaultOptions = {
  status?: number | null
  code?: string | null
  retry_at?: number | null
  cause?: unknown
}

/**
 * A failed request to Apple. The message is for a person: what happened, Apple's message, and what to do. `status` is
 * the HTTP status, `code` is Apple's error code (`PARAMETER_ERROR.INVALID`, `4040010`), and `retry_at` is in
 * milliseconds since the epoch.
 */
export class AppleFault extends Error {
  override readonly name = 'AppleFault'
  readonly kind: FaultKind
  readonly status: number | null
  readonly code: string | null
  readonly retry_at: number | null

  constructor(kind: FaultKind, message: string, options: AppleFaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.status = options.status ?? null
    this.code = options.code ?? null
    this.retry_at = options.retry_at ?? null
  }
}
