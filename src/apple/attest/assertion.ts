/**
 * Verifies assertions of App Attest: the attested key signed one request. Source: Apple, "Validating apps that connect to
 * your server".
 */
import { createPublicKey, verify } from 'node:crypto'
import { sha256Of } from '../../ids.ts'
import { AttestError } from './attest_error.ts'
import { readAssertionData } from './authenticator_data.ts'
import { decodeMap } from './cbor.ts'

/** Apple's assertions have about 200 bytes. */
const MAX_ASSERTION_BYTES = 4_096
/** The beginning of a SubjectPublicKeyInfo on P-256 (RFC 5480); the uncompressed point follows. */
const P256_PREFIX = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex')

/** `public_key` and `app_id` are those of the enrolment. `client_data_hash` is the SHA-256 of what the app signed. */
type AssertionClaim = {
  assertion: Uint8Array
  client_data_hash: Uint8Array
  public_key: Uint8Array
  app_id: string
}

/**
 * Verifies an assertion and returns its counter, which is at least 1. The caller compares it with the stored counter.
 * Throws AttestError `format`, `signature`, `app_id` or `counter`.
 */
export function verifyAssertion({ assertion, client_data_hash, public_key, app_id }: AssertionClaim): number {
  const object = assertion.length > MAX_ASSERTION_BYTES ? null : decodeMap(assertion)
  const [signature, data] = [object?.get('signature'), object?.get('authenticatorData')]
  if (!(signature instanceof Uint8Array) || !(data instanceof Uint8Array))
    throw new AttestError('format', 'the assertion has no signature or no authenticator data')
  const { rp_id_hash, counter } = readAssertionData(Buffer.from(data))
  const nonce = sha256Of(Buffer.concat([data, client_data_hash]))
  const key = createPublicKey({ key: Buffer.concat([P256_PREFIX, public_key]), format: 'der', type: 'spki' })
  // The nonce is the message, so it is hashed once more.
  if (!verify('sha256', nonce, key, signature))
    throw new AttestError(
      'signature',
      'the assertion is not signed by the attested key, or over another request',
    )
  if (!sha256Of(app_id).equals(rp_id_hash))
    throw new AttestError('app_id', `the assertion is not of ${app_id}`)
  if (counter === 0) throw new AttestError('counter', 'the counter of an assertion must be above 0')
  return counter
}
