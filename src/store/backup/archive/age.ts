/** Encryption of backups in the age format (https://age-encryption.org/v1), so that the program `age` opens them too. */
import { Refusal } from '../../../errors.ts'
import { reasonOf } from '../../warnings.ts'

/** For whom a backup is encrypted: recipients (`age1…`), or a passphrase. */
export type Encryption = { recipients: readonly string[] } | { passphrase: string }

/** What opens it: the text of an identity file as `age-keygen` writes it, or the passphrase. */
export type DecryptionKey = { identities: string } | { passphrase: string }

/** The first line of an encrypted file. */
const FIRST_LINE = 'age-encryption.org/v1\n'

/** 2^16 with blocks of 8 takes 64 MiB, as the owner's password does. The format's usual 18 takes 256 MiB, which small servers lack. */
const SCRYPT_WORK_FACTOR = 16

/** How a file that begins with these bytes is encrypted; null where it is not. */
export function encryptionOf(beginning: Buffer): 'recipients' | 'passphrase' | null {
  const text = beginning.toString('latin1')
  if (!text.startsWith(FIRST_LINE)) return null
  return text.startsWith(`${FIRST_LINE}-> scrypt `) ? 'passphrase' : 'recipients'
}

// Loaded when it is needed: reading it takes a tenth of a second.
const age = () => import('age-encryption')

/** The chunks, encrypted. @throws Error when a recipient is none. */
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

/** The chunks, decrypted. @throws Refusal 400 `wrong_key` when `key` does not open them. */
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
    if ('passphrase' in key) throw wrongKey('the passphrase does not open the backup')
    throw wrongKey(`the identity does not open the backup: ${reasonOf(error)}`)
  }
}

/** @throws Refusal 400 `invalid_recipient` when one of them is not a recipient of age. */
export async function assertRecipients(recipients: readonly string[]): Promise<void> {
  const { Encrypter } = await age()
  for (const recipient of recipients) {
    try {
      new Encrypter().addRecipient(recipient)
    } catch (error) {
      throw new Refusal(
        400,
        'invalid_recipient',
        `${recipient} is not a recipient of age: ${reasonOf(error)}`,
      )
    }
  }
}

const wrongKey = (words: string): Refusal => new Refusal(400, 'wrong_key', words)

const identitiesIn = (text: string): string[] =>
  text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
