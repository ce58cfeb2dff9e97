/** A verified chain of certificates, and when it was valid. */
import type { webcrypto, X509Certificate } from 'node:crypto'
import { SignatureError } from './signature_error.ts'

/** The allowed clock difference, the same as in Apple's own library. */
export const CLOCK_SKEW_MS = 60_000

/** A verified chain. All certificates are valid from `from` until `until` (milliseconds since the epoch). */
export type Chain = {
  leaf: X509Certificate
  intermediate: X509Certificate
  root: X509Certificate
  key: webcrypto.CryptoKey
  from: number
  until: number
}

/**
 * Checks that all three certificates were valid at the payload's signing date, with a minute of skew. Today's date
 * does not matter, because history and retries arrive after a leaf expired. Throws SignatureError `not_valid_then`.
 */
export function assertValidAt(chain: Chain, at: number): void {
  if (at >= chain.from - CLOCK_SKEW_MS && at <= chain.until + CLOCK_SKEW_MS) return
  const [from, until] = [chain.from, chain.until].map((time) => new Date(time).toISOString())
  const when = Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at)
  throw new SignatureError('not_valid_then', `signed at ${when}, with a chain valid from ${from} to ${until}`)
}
