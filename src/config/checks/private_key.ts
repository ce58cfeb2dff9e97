/** Checks whether a text is a private key in Apple's format: PKCS #8 in PEM, on the curve P-256. */
import { createPrivateKey, type KeyObject } from 'node:crypto'

/** Why a text is not a key from Apple. `found` is the label, kind or curve found instead, never part of a secret. */
type KeyFault = { fault: 'not_pem' | 'damaged' } | { fault: 'label' | 'kind' | 'curve'; found: string }

/**
 * What is wrong with the contents of a .p8 file, or null. It must begin with the first line of a private key in PKCS #8
 * (RFC 5958), be complete, and be an EC key on P-256. Callers write their own messages.
 */
export function inspectPrivateKey(pem: string): KeyFault | null {
  const [, label] = /^\s*-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem) ?? []
  if (label === undefined) return { fault: 'not_pem' }
  if (label !== 'PRIVATE KEY') return { fault: 'label', found: label }
  const key = parseKey(pem)
  if (key === null) return { fault: 'damaged' }
  if (key.asymmetricKeyType !== 'ec') return { fault: 'kind', found: String(key.asymmetricKeyType) }
  const curve = String(key.asymmetricKeyDetails?.namedCurve)
  return curve === 'prime256v1' ? null : { fault: 'curve', found: curve }
}

/** The fault as a message about a setting ("is not a private key"); null if there is none. */
export function faultOfPrivateKey(pem: string): string | null {
  const problem = inspectPrivateKey(pem)
  switch (problem?.fault) {
    case undefined:
      return null
    case 'not_pem':
      return 'is not a private key: it does not begin with -----BEGIN PRIVATE KEY-----'
    case 'label':
      return `is not a private key from Apple: its label is ${problem.found}`
    case 'damaged':
      return 'is not a complete private key: part of it is missing or was changed'
    case 'kind':
      return `is a key of the wrong kind (${problem.found}, not ec)`
    case 'curve':
      return `is a key on the wrong curve (${problem.found}, not P-256)`
  }
}

function parseKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    return null
  }
}
