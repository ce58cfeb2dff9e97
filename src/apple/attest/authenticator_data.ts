/**
 * Parses the authenticator data of App Attest by position. Apple sets only the flag for attested credential data, also
 * where none follows, and does not set the flag for extension data; so the flags say nothing about the length.
 */
import { CBORTag, type CBORType } from '@levischuck/tiny-cbor'
import { AttestError } from './attest_error.ts'
import { type CborMap, decodeLeadingMap, decodeMap } from './cbor.ts'

const FLAGS = 0x40
const HEAD_BYTES = 37
const KEY_ID_BYTES = 32
const AAGUID_AT = 37
const CREDENTIAL_ID_AT = 55
const COSE_KEY_AT = CREDENTIAL_ID_AT + KEY_ID_BYTES
/** Apple's map has 62 bytes. */
const MAX_EXTENSION_BYTES = 1_024
const EC2_KEYS = [1, 3, -1, -2, -3]

/** The app that holds the key, by the SHA-256 of its id, and how often the key has signed. */
type AuthenticatorHead = { rp_id_hash: Buffer; counter: number }

/** What iOS 27 and later report about the app. `other` has the fields without a meaning here, as hex or text. */
export type AppDetails = {
  /** 1 system, 2 TestFlight, 3 development, 4 App Store, 5 enterprise or ad hoc, 6 Developer ID, 10 other. */
  category: number | null
  bundle_version: string | null
  other: Readonly<Record<string, unknown>>
}

export type AttestedData = AuthenticatorHead & {
  aaguid: Buffer
  credential_id: Buffer
  /** The uncompressed point on P-256: 4, x, y. */
  public_key: Buffer
  details: AppDetails
}

/** The authenticator data of an assertion: the head, then at most one map. Throws AttestError `format`. */
export function readAssertionData(bytes: Buffer): AuthenticatorHead & { details: AppDetails } {
  const head = headOf(bytes)
  return { ...head, details: detailsIn(bytes.subarray(HEAD_BYTES)) }
}

/** The authenticator data of an attestation: head, credential, key, then at most one map. Throws AttestError `format`. */
export function readAttestedData(bytes: Buffer): AttestedData {
  const head = headOf(bytes)
  if (bytes.length < COSE_KEY_AT || bytes.readUInt16BE(CREDENTIAL_ID_AT - 2) !== KEY_ID_BYTES)
    throw wrong('the authenticator data has no credential id of 32 bytes')
  const key = decodeLeadingMap(bytes.subarray(COSE_KEY_AT))
  if (key === null) throw wrong('the authenticator data has no public key')
  return {
    ...head,
    aaguid: bytes.subarray(AAGUID_AT, AAGUID_AT + 16),
    credential_id: bytes.subarray(CREDENTIAL_ID_AT, COSE_KEY_AT),
    public_key: pointOf(key.map),
    details: detailsIn(key.rest),
  }
}

function headOf(bytes: Buffer): AuthenticatorHead {
  if (bytes.length < HEAD_BYTES || bytes[32] !== FLAGS)
    throw wrong('the authenticator data is too short or has other flags than Apple’s')
  return { rp_id_hash: bytes.subarray(0, 32), counter: bytes.readUInt32BE(33) }
}

/** The point of a COSE key (RFC 9053 §7.1.1): EC2, ES256, P-256. */
function pointOf(key: CborMap): Buffer {
  const [x, y] = [key.get(-2), key.get(-3)]
  const isKey = key.size === EC2_KEYS.length && key.get(1) === 2 && key.get(3) === -7 && key.get(-1) === 1
  if (!isKey || !isCoordinate(x) || !isCoordinate(y)) throw wrong('the public key is not an EC2 key on P-256')
  return Buffer.concat([Buffer.of(4), x, y])
}

const isCoordinate = (value: CBORType): value is Uint8Array =>
  value instanceof Uint8Array && value.length === 32

/** What follows the positions: nothing before iOS 27, one map since. */
function detailsIn(rest: Uint8Array): AppDetails {
  if (rest.length === 0) return { category: null, bundle_version: null, other: {} }
  const map = rest.length > MAX_EXTENSION_BYTES ? null : decodeMap(rest)
  if (map === null) throw wrong('what follows the authenticator data is not one CBOR map')
  const other: Record<string, unknown> = {}
  let category: number | null = null
  let bundle_version: string | null = null
  for (const [key, value] of map) {
    if (key === 'apple_validation_category_01' && value instanceof Uint8Array && value.length === 4)
      category = Buffer.from(value).readUInt32LE()
    else if (key === 'apple_bundle_version_01' && typeof value === 'string') bundle_version = value
    else other[String(key)] = readable(value)
  }
  return { category, bundle_version, other }
}

/** A value of CBOR as a value of JSON: byte strings as hex, maps as objects, values without their tags. */
function readable(value: CBORType): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, inner]) => [String(key), readable(inner)]))
  if (Array.isArray(value)) return value.map(readable)
  if (value instanceof CBORTag) return readable(value.value)
  return typeof value === 'bigint' ? String(value) : (value ?? null)
}

const wrong = (message: string): AttestError => new AttestError('format', message)
