/** What we tell a caller whose signed text we do not believe, and why. */

/** Stable words for why a signed text was not believed; each has one cause. */
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

/** What arrived is not proved to be Apple's, or is Apple's and was tampered with in the putting together. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly code: SignatureFault

  constructor(code: SignatureFault, message: string) {
    super(message)
    this.code = code
  }
}
