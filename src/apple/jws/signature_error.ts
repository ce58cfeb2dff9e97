/** The error for a signed text that fails verification. */

/** Stable codes; each has one cause. */
export type SignatureFault =
  | 'not_a_jws'
  | 'header'
  | 'algorithm'
  | 'chain_length'
  | 'root'
  | 'chain'
  | 'not_a_ca'
  | 'marker'
  | 'not_valid_then'
  | 'revoked'
  | 'signature'
  | 'payload'
  | 'xcode'
  | 'environment'
  | 'mismatch'

/** A signed text is not verifiably from Apple, or combines parts that Apple did not sign together. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly code: SignatureFault

  constructor(code: SignatureFault, message: string) {
    super(message)
    this.code = code
  }
}
