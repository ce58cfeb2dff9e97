/** What we compute: whether a text is a private key as Apple gives it: PKCS#8 in PEM, on the curve P-256. */
import { createPrivateKey, type KeyObject } from 'node:crypto'

/** Why a text is no key of Apple's; `found` is the word that stands where another should, never part of a secret. */
type KeyFault = { fault: 'not_pem' | 'damaged' } | { fault: 'label' | 'kind' | 'curve'; found: string }

/**
 * What is wrong with the text of a .p8 file, or null: it must begin with the first line of a private key in PKCS #8
 * (RFC 5958), be whole, and be an EC key on P-256. Whoever asks says so in words of their own.
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

/** The same, to go on a sentence about a setting ("is not a private key"); null when nothing is wrong. */
export function faultOfPrivateKey(pem: string): string | null {
  const problem = inspectPrivateKey(pem)
  switch (problem?.fault) {
    case undefined:
      return null
    case 'not_pem':
      return 'is not a private key: it does not begin with -----BEGIN PRIVATE KEY-----'
    case 'label':
      return `is not a private key as Apple gives it, but says ${problem.found}`
    case 'damaged':
      return 'is not a whole private key: some of it is missing or was changed'
    case 'kind':
      return `is a key of another kind than Apple's (${problem.found})`
    case 'curve':
      return `is a key on another curve than Apple's (${problem.found}, not P-256)`
  }
}

function parseKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    return null
  }
}
