/** What Apple says: the keys it gives for its APIs, and why a text is none of them. */
import { inspectPrivateKey } from '../../config/checks/private_key.ts'

/** `issuer_id` is null for an individual's key; `private_key` is the text of the .p8 file (PEM). */
export type ApiKey = { key_id: string; issuer_id: string | null; private_key: string }

const KEY_FILES_HINT = 'Apple’s keys are files named AuthKey_….p8 or SubscriptionKey_….p8'

/** What people give instead, by the words in its first line. */
const OTHER_PEM_LABELS: Readonly<Record<string, string>> = {
  CERTIFICATE: 'a certificate',
  'PUBLIC KEY': 'a public key',
  'ENCRYPTED PRIVATE KEY': 'a private key behind a password; Apple’s have none',
  'EC PRIVATE KEY': 'an EC key in an older wrapping (SEC 1), not as Apple gives it (PKCS #8)',
  'RSA PRIVATE KEY': 'an RSA key',
}

/** What is wrong with a text as one of Apple's keys, in words that hold nothing of it, or null. */
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
      return 'the key is damaged: was the file copied whole, with its first and its last line?'
    case 'kind':
      return `this is a key of another kind (${problem.found}). ${KEY_FILES_HINT}`
    case 'curve':
      return `this key is on the curve ${problem.found}, Apple’s are on P-256. ${KEY_FILES_HINT}`
  }
}
