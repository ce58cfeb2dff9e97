/** What we tell a caller when we will not do what was asked. Anything else that is thrown is our own fault. */

/** One fault in what was sent: where it is (`attributes.plan`) and what is wrong with it. */
export type FieldError = { path: string; message: string }

type RefusalOptions = { errors?: FieldError[]; headers?: Record<string, string> }

/**
 * A refusal the caller can act on. `http.ts` answers it as problem+json (RFC 9457) with its `status` and its
 * stable `code`; the command line prints its `detail`.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string
  readonly errors: FieldError[] | undefined
  readonly headers: Record<string, string>

  constructor(status: number, code: string, detail: string, more: RefusalOptions = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = more.errors
    this.headers = more.headers ?? {}
  }
}
