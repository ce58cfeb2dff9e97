/**
 * The file `windfall.key` beside the database. It holds the key that seals secrets, so that the database alone does not
 * reveal them. A backup contains it.
 */
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { textAt } from '../store/disk/paths.ts'

const BYTES = 32
const TEXT = /^[A-Za-z0-9+/]{43}=\n?$/

/** A key of 256 bits. `id` identifies it without revealing it. */
export type SealingKey = { id: string; bytes: Buffer }

/**
 * Reads the key; null if the file does not exist.
 *
 * @throws Error if the file cannot be read or does not contain a key.
 */
export function readKeyFile(file: string): SealingKey | null {
  const text = textAt(file)
  if (text === null) return null
  if (!TEXT.test(text)) throw new Error(`${file} does not contain a key (32 bytes in base64)`)
  return keyOf(Buffer.from(text, 'base64'))
}

/** Creates the file with a random key, mode 0600, durably. If another process created it meanwhile, returns that key. */
export function createKeyFile(file: string): SealingKey {
  const key = keyOf(randomBytes(BYTES))
  const partial = `${file}.${key.id}.partial`
  writeFileSync(partial, `${key.bytes.toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    // Unlike a rename, a link never replaces a file.
    linkSync(partial, file)
    syncFolder(dirname(file))
    return key
  } catch (error) {
    const existing = readKeyFile(file)
    if (existing === null) throw error
    return existing
  } finally {
    rmSync(partial)
  }
}

const keyOf = (bytes: Buffer): SealingKey => ({
  id: createHash('sha256').update('windfall key id\n').update(bytes).digest('hex').slice(0, 16),
  bytes,
})

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
