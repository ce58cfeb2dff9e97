/** Keys as Apple gives them, made for one run. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'

const asPem = { type: 'pkcs8', format: 'pem' } as const

/** The text of a .p8 file: a private key on P-256, PKCS#8 in PEM. */
export const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(asPem).toString()

/** One key for those who do not mind which. */
export const KEY = newKey()

/** A signing secret of webhooks with this many bytes. */
export const webhookSecret = (bytes = 32): string => `whsec_${randomBytes(bytes).toString('base64')}`

export const WEBHOOK_SECRET = webhookSecret()

/** A key file's name and text. */
export const keyFile = (name: string, pem = KEY): [string, string] => [`${name}.p8`, pem]

/** Texts that are no key of Apple's, with what is said of each. */
export const NO_KEYS: readonly [name: string, pem: string, words: string][] = [
  ['words', 'hunter2', 'is not a private key: it does not begin with -----BEGIN PRIVATE KEY-----'],
  [
    'words before',
    `Our key:\n${KEY}`,
    'is not a private key: it does not begin with -----BEGIN PRIVATE KEY-----',
  ],
  [
    'public',
    '-----BEGIN PUBLIC KEY-----\nhunter2\n-----END PUBLIC KEY-----\n',
    'is not a private key from Apple: its label is PUBLIC KEY',
  ],
  [
    'sec1',
    generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'sec1', format: 'pem' })
      .toString(),
    'is not a private key from Apple: its label is EC PRIVATE KEY',
  ],
  [
    'cut',
    KEY.replace(/\n.*\n(?=-----END)/, '\n'),
    'is not a complete private key: part of it is missing or was changed',
  ],
  [
    'rsa',
    generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export(asPem).toString(),
    'is a key of the wrong kind (rsa, not ec)',
  ],
  [
    'curve',
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(asPem).toString(),
    'is a key on the wrong curve (secp384r1, not P-256)',
  ],
]
