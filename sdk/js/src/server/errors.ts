/** The error of a call that Windfall refused or that got no answer. */

/** What is wrong with one field of a request. */
export interface FieldFault {
  path: string
  message: string
}

interface Details {
  /** The status of the answer; null without one. */
  status?: number
  retryAfter?: number | null
  errors?: readonly FieldFault[]
  head?: number | null
  requestId?: string | null
  cause?: unknown
}

/**
 * A call that failed. `code` is Windfall’s (docs/api.md), or one of the client: `invalid_options`, `invalid_argument`,
 * `unreachable`, `timeout` and `unexpected_answer`.
 */
export class WindfallError extends Error {
  override readonly name = 'WindfallError'
  readonly code: string
  /** The status of the answer; null if there was none. */
  readonly status: number | null
  /** What went wrong, for people; it can change. */
  readonly detail: string
  /** The seconds to wait before the next attempt; null if Windfall named none. */
  readonly retryAfter: number | null
  /** The invalid fields of the request. */
  readonly errors: readonly FieldFault[]
  /** With `feed_restarted`: the newest seq of the feed, to continue from. */
  readonly head: number | null
  /** The id of the request in the log of Windfall. */
  readonly requestId: string | null

  constructor(code: string, detail: string, details: Details = {}) {
    super(`${code}: ${detail}`, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.detail = detail
    this.status = details.status ?? null
    this.retryAfter = details.retryAfter ?? null
    this.errors = details.errors ?? []
    this.head = details.head ?? null
    this.requestId = details.requestId ?? null
  }
}
