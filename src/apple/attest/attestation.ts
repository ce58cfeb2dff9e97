/**
 * Verifies attestations of App Attest: Apple states that a key lives in the Secure Enclave of a genuine device and
 * belongs to a genuine copy of one app. Source: Apple, "Validating apps that connect to your server".
 */
import type { X509Certificate } from 'node:crypto'
import { sha256Of } from '../../ids.ts'
import { extensionOf, verifyAttestChain } from '../jws/chain.ts'
import { SignatureError } from '../jws/signature_error.ts'
import { assertValidAt, type Chain } from '../jws/validity.ts'
import { AttestError } from './attest_error.ts'
import { type AppDetails, type AttestedData, readAttestedData } from './authenticator_data.ts'
import { decodeMap } from './cbor.ts'

/** Apple's objects have about 5.5 kB. */
const MAX_ATTESTATION_BYTES = 16_384
const NONCE_EXTENSION = '1.2.840.113635.100.8.2'
/** The nonce's extension: a sequence of [1], which holds the octet string. */
const NONCE_PREFIX = Buffer.from('3024a1220420', 'hex')
/** Extensions without documentation. Only suggestions and texts come from them, never a decision. */
const KEY_EXTENSION = '1.2.840.113635.100.8.5'
const SYSTEM_EXTENSION = '1.2.840.113635.100.8.7'
const APP_ID_TAG = Buffer.from('bf8934', 'hex')
const SYSTEM_VERSION_TAG = Buffer.from('bf8a78', 'hex')

const AAGUIDS = {
  production: Buffer.from('appattest\0\0\0\0\0\0\0', 'latin1'),
  development: Buffer.from('appattestdevelop', 'latin1'),
} as const

/** The categories that production refuses: development, and enterprise or ad hoc. */
const REFUSED_CATEGORIES: ReadonlySet<number | null> = new Set([3, 5])

/** development: the app was signed for development. TestFlight and the App Store use production. */
export type AttestEnvironment = 'production' | 'development'

/** `app_id` is the prefix, a dot and the bundle id. `at` is now, in milliseconds since the epoch. */
export type AttestationClaim = {
  attestation: Uint8Array
  key_id: Uint8Array
  client_data_hash: Uint8Array
  app_id: string
  accept: readonly AttestEnvironment[]
  at: number
}

/** An attested key. `os_version` is the version that Apple wrote into the certificate. */
export type Attested = {
  public_key: Buffer
  environment: AttestEnvironment
  details: AppDetails
  os_version: string | null
  receipt: Buffer
}

type AttestationObject = { certificates: [Buffer, Buffer]; receipt: Buffer; data: Buffer }

/** Verifies an attestation. Throws AttestError with the step that failed; see its documentation for the order. */
export function verifyAttestation(claim: AttestationClaim, roots: readonly X509Certificate[]): Attested {
  const { certificates, receipt, data } = readObject(claim.attestation)
  const { leaf } = chainOf(certificates, roots, claim.at)
  const attested = readAttestedData(data)
  assertNonce(leaf, data, claim.client_data_hash)
  const key = pointIn(leaf)
  assertEqual('key_id', 'the key id is not the hash of the attested key', sha256Of(key), claim.key_id)
  assertEqual(
    'app_id',
    `the key does not belong to ${claim.app_id}`,
    sha256Of(claim.app_id),
    attested.rp_id_hash,
  )
  if (attested.counter !== 0) throw new AttestError('counter', 'the counter of an attestation must be 0')
  const environment = environmentOf(attested, claim.accept)
  assertEqual('credential_id', 'the credential id is not the key id', attested.credential_id, claim.key_id)
  assertEqual('public_key', 'the public key is not the certificate’s', attested.public_key, key)
  const { details } = attested
  if (environment === 'production' && REFUSED_CATEGORIES.has(details.category)) {
    const message = `an app of validation category ${details.category} is not accepted in production`
    throw new AttestError('category', message)
  }
  return {
    public_key: key,
    environment,
    details,
    os_version: textIn(leaf, SYSTEM_EXTENSION, SYSTEM_VERSION_TAG),
    receipt,
  }
}

/**
 * The id of the app that the certificate of an attestation names, in an extension without documentation. Null where it
 * cannot be read, or where the chain does not end in Apple's root. It is a suggestion to a person: nothing depends on it.
 */
export function suggestedAppId(
  attestation: Uint8Array,
  roots: readonly X509Certificate[],
  at: number,
): string | null {
  try {
    const { leaf } = chainOf(readObject(attestation).certificates, roots, at)
    return textIn(leaf, KEY_EXTENSION, APP_ID_TAG)
  } catch (error) {
    if (error instanceof AttestError) return null
    throw error
  }
}

function readObject(attestation: Uint8Array): AttestationObject {
  const object = attestation.length > MAX_ATTESTATION_BYTES ? null : decodeMap(attestation)
  const statement = object?.get('attStmt')
  const data = object?.get('authData')
  if (
    object?.get('fmt') !== 'apple-appattest' ||
    !(statement instanceof Map) ||
    !(data instanceof Uint8Array)
  )
    throw new AttestError('format', 'the attestation is not an object of the format apple-appattest')
  const [x5c, receipt] = [statement.get('x5c'), statement.get('receipt')]
  const [leaf, intermediate] = Array.isArray(x5c) && x5c.length === 2 ? x5c : []
  const isComplete = leaf instanceof Uint8Array && intermediate instanceof Uint8Array
  if (!isComplete || !(receipt instanceof Uint8Array))
    throw new AttestError('format', 'the attestation must have two certificates and a receipt')
  return {
    certificates: [Buffer.from(leaf), Buffer.from(intermediate)],
    receipt: Buffer.from(receipt),
    data: Buffer.from(data),
  }
}

/** The certificates must be valid now, because an attestation is verified once, when it is made. */
function chainOf(
  certificates: readonly [Buffer, Buffer],
  roots: readonly X509Certificate[],
  at: number,
): Chain {
  try {
    const chain = verifyAttestChain(certificates, roots)
    assertValidAt(chain, at)
    return chain
  } catch (error) {
    if (error instanceof SignatureError) throw new AttestError('chain', error.message)
    throw error
  }
}

function assertNonce(leaf: X509Certificate, data: Uint8Array, clientDataHash: Uint8Array): void {
  const nonce = sha256Of(Buffer.concat([data, clientDataHash]))
  const expected = Buffer.concat([NONCE_PREFIX, nonce])
  const actual = extensionOf(leaf, NONCE_EXTENSION) ?? Buffer.alloc(0)
  assertEqual('nonce', 'the attestation was made for another challenge', expected, actual)
}

function environmentOf({ aaguid }: AttestedData, accept: readonly AttestEnvironment[]): AttestEnvironment {
  const environment = (['production', 'development'] as const).find((one) => AAGUIDS[one].equals(aaguid))
  if (environment !== undefined && accept.includes(environment)) return environment
  const named = environment === undefined ? 'an unknown environment' : `the environment ${environment}`
  throw new AttestError('environment', `${named} is not accepted`)
}

function assertEqual(step: AttestError['step'], message: string, a: Uint8Array, b: Uint8Array): void {
  if (Buffer.compare(a, b) !== 0) throw new AttestError(step, message)
}

/** The public key of a certificate on P-256 as an uncompressed point: 4, x, y. The key is the end of its SPKI. */
const pointIn = (certificate: X509Certificate): Buffer =>
  certificate.publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)

/** The text under a tag of an extension of Apple's: the tag, a length, an octet string of at most 127 bytes. */
function textIn(leaf: X509Certificate, extension: string, tag: Buffer): string | null {
  const value = extensionOf(leaf, extension)
  const at = value === null ? -1 : value.indexOf(tag)
  if (value === null || at < 0 || value[at + tag.length + 1] !== 4) return null
  const start = at + tag.length + 3
  const text = value.subarray(start, start + (value[start - 1] ?? 0)).toString('latin1')
  return /^[\x20-\x7e]{1,127}$/.test(text) ? text : null
}
