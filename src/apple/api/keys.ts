/** Private keys for Apple's APIs, and the messages for a text that is not such a key. */
import { inspectPrivateKey } from '../../config/checks/private_key.ts'

/** `issuer_id` is null for an individual's key; `private_key` is the text of the .p8 file (PEM). */
export type ApiKey = { key_id: string; issuer_id: string | null; private_key: string }

const KEY_FILES_HINT = 'Apple’s keys are files named AuthKey_….p8 or SubscriptionKey_….p8'

/** Other PEM contents, by the label in the first line. */
const OTHER_PEM_LABELS: Readonly<Record<string, string>> = {
  CERTIFICATE: 'a certificate',
  'PUBLIC KEY': 'a public key',
  'ENCRYPTED PRIVATE KEY': 'a private key with a password; Apple’s keys have none',
  'EC PRIVATE KEY': 'an EC key in SEC 1 format; Apple’s keys are in PKCS #8 format',
  'RSA PRIVATE KEY': 'an RSA key',
}

/** Why a text is not a key from Apple; null if it is one. The message repeats no part of the text. */
export function problemOfKey(pem: string): string | null {
  const problem = inspectPrivateKey(pem)
  switch (problem?.fault) {
    case undefined:
      return null
    case 'not_pem':
      return `this is not a private key in PEM: it does not begin with -----BEGIN PRIVATE KEY-----. ${KEY_FILES_HINT}`
    case 'label':
      return `this is ${OTHER_PEM_LABELS[problem.found] ?? `a “${problem.found.toLowerCase()}”`}. ${KEY_FILES_HINT}`
    case 'damaged':
      return 'the key is damaged. Copy the whole file, including the first and the last line.'
    case 'kind':
      return `this is a key of another kind (${problem.found}). ${KEY_FILES_HINT}`
    case 'curve':
      return `this key uses the curve ${problem.found}; Apple’s keys use P-256. ${KEY_FILES_HINT}`
  }
}
