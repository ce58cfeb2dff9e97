/**
 * Seals secrets with AES-256-GCM (NIST SP 800-38D) under the key in `windfall.key`. The table, row and column of a secret
 * are authenticated with it, so that a ciphertext which was moved to another row does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { KEY_FILE, keyFileOf } from '../config/key_path.ts'
import { Refusal } from '../errors.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'
import { reasonOf } from '../store/warnings.ts'
import { createKeyFile, readKeyFile, type SealingKey } from './key_file.ts'

const CIPHER = 'aes-256-gcm'
/** NIST SP 800-38D §8.2.2: a random 96-bit IV serves 2^32 secrets under one key. */
const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^v1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/

/** Where a sealed secret is stored. */
export type SecretLocation = { table: string; row: string; column: string }

/**
 * Whether secrets can be read. `unused`: nothing was sealed yet. `words` says what is wrong, and null if nothing is.
 */
export type KeyState = {
  state: 'unused' | 'ready' | 'missing' | 'different' | 'invalid'
  file: string
  words: string | null
}

/** The error of a secret that cannot be opened: its key is gone or another one, or the text was changed. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

export type Secrets = ReturnType<typeof openSecrets>

/** Opens the secrets of a database. The key file is created with the first secret. */
export function openSecrets(store: Pick<Store, 'prepare' | 'file'>) {
  const file = keyFileOf(store.file)
  const keyId = openSetting(store, 'sealing_key_id')
  let known: SealingKey | null = null

  /** The key that sealed the secrets of this database; otherwise why it cannot be used. */
  function load(): SealingKey | KeyState {
    const id = keyId.get()
    if (id === null) return { state: 'unused', file, words: null }
    if (known?.id === id) return known
    try {
      const key = readKeyFile(file)
      if (key === null) return { state: 'missing', file, words: `${file} does not exist` }
      if (key.id === id) {
        known = key
        return key
      }
      return {
        state: 'different',
        file,
        words: `${file} contains another key than the one that sealed the secrets`,
      }
    } catch (error) {
      return { state: 'invalid', file, words: reasonOf(error) }
    }
  }

  /** Whether the key can be used. Reads the file unless the key is in memory. */
  function state(): KeyState {
    const loaded = load()
    return 'bytes' in loaded ? { state: 'ready', file, words: null } : loaded
  }

  /**
   * Seals `text` for a location. Creates the key file with the first secret. Must run inside a unit of work.
   *
   * @throws Refusal 409 `key_unreadable` if the key of the other secrets cannot be used.
   */
  function seal(text: string, location: SecretLocation): string {
    const key = keyForSealing()
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, key.bytes, iv).setAAD(additionalData(location))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `v1.${key.id}.${sealed.toString('base64url')}`
  }

  function keyForSealing(): SealingKey {
    const loaded = load()
    if ('bytes' in loaded) return loaded
    if (loaded.state === 'unused') return useKeyOfFile()
    throw new Refusal(409, 'key_unreadable', `${loaded.words}. ${KEY_REMEDY}`)
  }

  /**
   * Opens a sealed text.
   *
   * @throws SecretUnreadable if the key cannot be used, or the text was sealed by another key or for another location.
   */
  function open(sealed: string, location: SecretLocation): string {
    const loaded = load()
    if (!('bytes' in loaded)) throw new SecretUnreadable(loaded.words ?? `${KEY_FILE} was never created`)
    const [, id, text = ''] = SEALED.exec(sealed) ?? []
    if (id !== loaded.id) throw new SecretUnreadable('the secret was sealed with another key')
    const bytes = Buffer.from(text, 'base64url')
    try {
      const tag = bytes.subarray(-TAG_BYTES)
      const decipher = createDecipheriv(CIPHER, loaded.bytes, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(additionalData(location)).setAuthTag(tag)
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new SecretUnreadable('the secret was changed, or belongs to another row')
    }
  }

  /**
   * Seals with the key in the file from now on, and creates the file if it does not exist. Secrets of the previous key
   * stay unreadable. Must run inside a unit of work.
   *
   * @throws Refusal 409 `key_unreadable` if the file does not contain a key.
   */
  function replaceKey(): KeyState {
    useKeyOfFile()
    return state()
  }

  function useKeyOfFile(): SealingKey {
    const key = keyOfFile()
    keyId.set(key.id)
    known = key
    return key
  }

  function keyOfFile(): SealingKey {
    try {
      return readKeyFile(file) ?? createKeyFile(file)
    } catch (error) {
      throw new Refusal(409, 'key_unreadable', reasonOf(error))
    }
  }

  return { state, seal, open, replaceKey }
}

/** What to do about a key that cannot be used. */
export const KEY_REMEDY = `Put ${KEY_FILE} of the backup beside the database. If it is lost, run windfall outgoing new-key and enter the secrets again.`

const additionalData = ({ table, row, column }: SecretLocation): Buffer =>
  Buffer.from(JSON.stringify([table, row, column]))
