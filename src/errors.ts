/** Errors that a caller can act on. Any other thrown error is a bug or a failure of the system. */

/** One invalid field: its path (`attributes.plan`) and what is wrong with it. */
export type FieldError = { path: string; message: string }

type RefusalOptions = {
  errors?: FieldError[]
  headers?: Record<string, string>
  head?: number
  limit?: string
}

/**
 * A refused request or command. The server answers with problem+json (RFC 9457), with its `status` and stable `code`;
 * the command line prints its `detail`.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string
  readonly errors: FieldError[] | undefined
  /** The newest seq of the feed, for `feed_restarted`. */
  readonly head: number | undefined
  readonly headers: Record<string, string>
  /** Which of several limits the call reached, such as that of its address; it is counted and not answered. */
  readonly limit: string | null

  constructor(status: number, code: string, detail: string, options: RefusalOptions = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = options.errors
    this.head = options.head
    this.headers = options.headers ?? {}
    this.limit = options.limit ?? null
  }
}
