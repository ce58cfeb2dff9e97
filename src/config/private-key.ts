/** What we compute: whether a text is a private key as Apple gives it: PKCS#8 in PEM, on the curve P-256. */
import { createPrivateKey, type KeyObject } from 'node:crypto'

/** What is wrong with the text of a .p8 file, to go on a sentence about it ("is empty"); null when nothing is. */
export function faultOfPrivateKey(pem: string): string | null {
  const [, label] = /^\s*-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem) ?? []
  if (label === undefined) return 'is not a private key: it does not begin with -----BEGIN PRIVATE KEY-----'
  if (label !== 'PRIVATE KEY') return `is not a private key as Apple gives it, but says ${label}`
  const key = keyIn(pem)
  if (key === null) return 'is not a whole private key: some of it is missing or was changed'
  if (key.asymmetricKeyType !== 'ec')
    return `is a key of another kind than Apple's (${key.asymmetricKeyType})`
  const curve = key.asymmetricKeyDetails?.namedCurve
  return curve === 'prime256v1' ? null : `is a key on another curve than Apple's (${curve}, not P-256)`
}

function keyIn(pem: string): KeyObject | null {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    return null
  }
}
