/** What Apple says: why it did not give what was asked, or why it could not be asked. */

/**
 * `unauthorized` the key is not believed; `forbidden` it may not do this; `agreement` a contract with Apple is
 * missing; `not_found`; `rate_limited` not before `retry_at`; `unavailable` worth asking again later (5xx, network,
 * timeout); `refused` any other refusal, which asking again does not change; `unreadable` an answer of a shape that
 * we do not know.
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
 * What a person should know when Apple could not be asked or said no: Apple's words, then what to do. `status` is
 * that of HTTP, `code` Apple's own (`PARAMETER_ERROR.INVALID`, `4040010`), `retry_at` milliseconds since the epoch.
 */
export class AppleFault extends Error {
  override readonly name = 'AppleFault'
  readonly kind: FaultKind
  readonly status: number | null
  readonly code: string | null
  readonly retry_at: number | null

  constructor(kind: FaultKind, message: string, more: AppleFaultOptions = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.kind = kind
    this.status = more.status ?? null
    this.code = more.code ?? null
    this.retry_at = more.retry_at ?? null
  }
}
