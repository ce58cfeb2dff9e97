/** What Apple says: the keys it gives for its APIs, and whether a text is one of them. */
import { createPrivateKey, type KeyObject } from 'node:crypto'

/** `issuer_id` is null for an individual's key; `private_key` is the text of the .p8 file (PEM). */
export type ApiKey = { key_id: string; issuer_id: string | null; private_key: string }

const KIND = /-----BEGIN ([A-Z0-9 ]+)-----/
const WANTED = 'Apple’s keys are files named AuthKey_….p8 or SubscriptionKey_….p8'

/** What people give instead, by the words in its first line. */
const OTHERS: Readonly<Record<string, string>> = {
  CERTIFICATE: 'a certificate',
  'PUBLIC KEY': 'a public key',
  'ENCRYPTED PRIVATE KEY': 'a private key behind a password; Apple’s have none',
  'EC PRIVATE KEY': 'an EC key in an older wrapping (SEC 1), not as Apple gives it (PKCS #8)',
  'RSA PRIVATE KEY': 'an RSA key',
}

function parse(pem: string): KeyObject | null {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    return null
  }
}

function problemOfKind(pem: string): string | null {
  const [, kind] = KIND.exec(pem) ?? []
  if (kind === 'PRIVATE KEY') return null
  if (kind === undefined) return `this is not a private key in PEM (“-----BEGIN PRIVATE KEY-----”). ${WANTED}`
  return `this is ${OTHERS[kind] ?? `a “${kind.toLowerCase()}”`}. ${WANTED}`
}

/**
 * What is wrong with a text as one of Apple's keys, in words that hold nothing of it, or null: an EC private key on
 * P-256 in PKCS #8 (RFC 5958), as PEM.
 */
export function problemOfKey(pem: string): string | null {
  const problem = problemOfKind(pem)
  if (problem !== null) return problem
  const key = parse(pem)
  if (key === null) return 'the key is damaged: was the file copied whole, with its first and its last line?'
  if (key.asymmetricKeyType !== 'ec') {
    return `this is a key of another kind (${key.asymmetricKeyType}). ${WANTED}`
  }
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (curve !== 'prime256v1') return `this key is on the curve ${curve}, Apple’s are on P-256. ${WANTED}`
  return null
}
