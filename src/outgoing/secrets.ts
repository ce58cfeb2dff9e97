/** Keeps the secrets of this database sealed, and reports a sealing key that cannot be used. */
import { KEY_FILE, keyFileOf } from '../config/key_path.ts'
import { Refusal } from '../errors.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'
import { reasonOf } from '../store/warnings.ts'
import { createKeyFile, readKeyFile, type SealingKey } from './key_file.ts'
import { openText, type SecretLocation, SecretUnreadable, sealText } from './sealing.ts'

/**
 * Whether secrets can be read. `unused`: nothing was sealed yet. `words` says what is wrong, and null if nothing is.
 */
export type KeyState = {
  state: 'unused' | 'ready' | 'missing' | 'different' | 'invalid'
  file: string
  words: string | null
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
    const loaded = loadKey(file, id)
    if ('bytes' in loaded) known = loaded
    return loaded
  }

  /** Whether the key can be used. Reads the file unless the key is in memory. */
  function state(): KeyState {
    const loaded = load()
    return 'bytes' in loaded ? { state: 'ready', file, words: null } : loaded
  }

  /**
   * Seals `text`. Creates the key file with the first secret. Must run inside a unit of work.
   *
   * @throws Refusal 409 `key_unreadable` if the key of the other secrets cannot be used.
   */
  function seal(text: string, location: SecretLocation): string {
    const loaded = load()
    if ('bytes' in loaded) return sealText(loaded, text, location)
    if (loaded.state === 'unused') return sealText(replaceKey(), text, location)
    throw new Refusal(409, 'key_unreadable', `${loaded.words}. ${KEY_REMEDY}`)
  }

  /** Opens a sealed text. @throws SecretUnreadable, also if the text was sealed for another location. */
  function open(sealed: string, location: SecretLocation): string {
    const loaded = load()
    if ('bytes' in loaded) return openText(loaded, sealed, location)
    throw new SecretUnreadable(loaded.words ?? `${KEY_FILE} was never created`)
  }

  /** As `open`; null if the text cannot be opened. */
  const openOrNull = (sealed: string, location: SecretLocation): string | null =>
    nullIfUnreadable(() => open(sealed, location))

  /**
   * Seals with the key of the file from now on, and creates the file if it does not exist. Secrets of another key stay
   * unreadable. Must run inside a unit of work.
   *
   * @throws Refusal 409 `key_unreadable` if the file does not contain a key.
   */
  function replaceKey(): SealingKey {
    known = readOrCreateKey(file)
    keyId.set(known.id)
    return known
  }

  return { state, seal, open, openOrNull, replaceKey }
}

/** What to do about a key that cannot be used. */
export const KEY_REMEDY = `Put ${KEY_FILE} of the backup beside the database. If it is lost, run windfall outgoing new-key and enter the secrets again.`

function nullIfUnreadable(read: () => string): string | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}

function readOrCreateKey(file: string): SealingKey {
  try {
    return readKeyFile(file) ?? createKeyFile(file)
  } catch (error) {
    throw new Refusal(409, 'key_unreadable', reasonOf(error))
  }
}

function loadKey(file: string, id: string): SealingKey | KeyState {
  try {
    const key = readKeyFile(file)
    if (key === null) return { state: 'missing', file, words: `${file} does not exist` }
    if (key.id === id) return key
    const words = `${file} contains another key than the one that sealed the secrets`
    return { state: 'different', file, words }
  } catch (error) {
    return { state: 'invalid', file, words: reasonOf(error) }
  }
}
