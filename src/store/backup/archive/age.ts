/** Encrypts backups in the age format (https://age-encryption.org/v1). The program `age` can decrypt them, too. */
import { Refusal } from '../../../errors.ts'
import { reasonOf } from '../../warnings.ts'

/** How a backup is encrypted: for recipients (`age1…`), or with a passphrase. */
export type Encryption = { recipients: readonly string[] } | { passphrase: string }

/** The key that decrypts a backup: the text of an identity file from `age-keygen`, or the passphrase. */
export type DecryptionKey = { identities: string } | { passphrase: string }

/** The first line of an encrypted file. */
const FIRST_LINE = 'age-encryption.org/v1\n'

/** log2 of scrypt's N. 2^16 with blocks of 8 needs 64 MiB, like the owner's password. The usual 2^18 needs 256 MiB. */
const SCRYPT_WORK_FACTOR = 16

/** How a file that begins with these bytes is encrypted; null if the file is not encrypted. */
export function encryptionOf(beginning: Buffer): 'recipients' | 'passphrase' | null {
  const text = beginning.toString('latin1')
  if (!text.startsWith(FIRST_LINE)) return null
  return text.startsWith(`${FIRST_LINE}-> scrypt `) ? 'passphrase' : 'recipients'
}

// Loaded on demand: the import takes a tenth of a second.
const age = () => import('age-encryption')

/** Encrypts the chunks. @throws Error when a recipient is invalid. */
export async function encrypt(
  chunks: AsyncIterable<Uint8Array>,
  lock: Encryption,
): Promise<AsyncIterable<Uint8Array>> {
  const { Encrypter } = await age()
  const encrypter = new Encrypter()
  if ('passphrase' in lock) {
    encrypter.setPassphrase(lock.passphrase)
    encrypter.setScryptWorkFactor(SCRYPT_WORK_FACTOR)
  } else for (const recipient of lock.recipients) encrypter.addRecipient(recipient)
  return encrypter.encrypt(ReadableStream.from(chunks))
}

/** Decrypts the chunks. @throws Refusal 400 `wrong_key` when `key` does not decrypt them. */
export async function decrypt(
  chunks: AsyncIterable<Uint8Array>,
  key: DecryptionKey,
): Promise<AsyncIterable<Uint8Array>> {
  const { Decrypter } = await age()
  const decrypter = new Decrypter()
  try {
    if ('passphrase' in key) decrypter.addPassphrase(key.passphrase)
    else for (const line of identitiesIn(key.identities)) decrypter.addIdentity(line)
    return await decrypter.decrypt(ReadableStream.from(chunks))
  } catch (error) {
    if ('passphrase' in key) throw wrongKey('the passphrase does not decrypt the backup')
    throw wrongKey(`the identity does not decrypt the backup: ${reasonOf(error)}`)
  }
}

/** @throws Refusal 400 `invalid_recipient` when one of them is not an age recipient. */
export async function assertRecipients(recipients: readonly string[]): Promise<void> {
  const { Encrypter } = await age()
  for (const recipient of recipients) {
    try {
      new Encrypter().addRecipient(recipient)
    } catch (error) {
      throw new Refusal(400, 'invalid_recipient', `${recipient} is not an age recipient: ${reasonOf(error)}`)
    }
  }
}

const wrongKey = (words: string): Refusal => new Refusal(400, 'wrong_key', words)

const identitiesIn = (text: string): string[] =>
  text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
