/**
 * Seals texts with AES-256-GCM (NIST SP 800-38D). The table, row and column of a secret are authenticated with it, so
 * that a ciphertext which was moved to another row does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealingKey } from './key_file.ts'

const CIPHER = 'aes-256-gcm'
/** NIST SP 800-38D §8.2.2: a random 96-bit IV serves 2^32 secrets under one key. */
const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^v1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/

/** Where a sealed secret is stored. */
export type SecretLocation = { table: string; row: string; column: string }

/** The error of a secret that cannot be opened: its key is gone or another one, or the text was changed. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

/** Seals a text: `v1.`, the id of the key, and in base64url the IV, the ciphertext and the tag. */
export function sealText(key: SealingKey, text: string, location: SecretLocation): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key.bytes, iv).setAAD(additionalData(location))
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `v1.${key.id}.${sealed.toString('base64url')}`
}

/**
 * Opens a sealed text.
 *
 * @throws SecretUnreadable if it was sealed with another key or for another location, or was changed.
 */
export function openText(key: SealingKey, sealed: string, location: SecretLocation): string {
  const [, id, text = ''] = SEALED.exec(sealed) ?? []
  if (id !== key.id) throw new SecretUnreadable('the secret was sealed with another key')
  const bytes = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(additionalData(location)).setAuthTag(bytes.subarray(-TAG_BYTES))
    return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    throw new SecretUnreadable('the secret was changed, or belongs to another row')
  }
}

const additionalData = ({ table, row, column }: SecretLocation): Buffer =>
  Buffer.from(JSON.stringify([table, row, column]))
