/** The error for an attestation or an assertion that fails verification. */

/**
 * The step that failed, in Apple's order ("Validating apps that connect to your server"):
 * - `format`: the object has another shape than Apple's.
 * - `chain`: the certificates do not chain to Apple's App Attestation root, or are not valid now.
 * - `nonce`: the certificate is for another challenge. `key_id`: it is for another key.
 * - `app_id`: the key belongs to another app. `counter`: an attestation's counter is not 0.
 * - `environment`: the key was made in an environment that is not accepted.
 * - `credential_id`, `public_key`: the object names another key than its certificate.
 * - `category`: the app was distributed in a way that is not accepted in production.
 * - `signature`: an assertion is not signed by the key.
 */
type AttestStep =
  | 'format'
  | 'chain'
  | 'nonce'
  | 'key_id'
  | 'app_id'
  | 'counter'
  | 'environment'
  | 'credential_id'
  | 'public_key'
  | 'category'
  | 'signature'

/** An attestation or an assertion is not verifiably from Apple, or not for this app and this challenge. */
export class AttestError extends Error {
  override readonly name = 'AttestError'
  readonly step: AttestStep

  constructor(step: AttestStep, message: string) {
    super(message)
    this.step = step
  }
}
