/** Unpacks a backup and verifies all of its bytes. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createTarDecoder } from 'modern-tar'
import * as v from 'valibot'
import { Refusal } from '../../../errors.ts'
import { type FreeBytes, freeBytesOf } from '../../disk/disk_space.ts'
import { isFull } from '../../sqlite_errors.ts'
import { reasonOf } from '../../warnings.ts'
import { type DecryptionKey, decrypt, encryptionOf } from './age.ts'
import { DATABASE, isEntryName, MANIFEST, Manifest, replacingEnd, TAIL_BYTES, tailOf } from './format.ts'
import { decompress, isCompressed } from './zstd.ts'

/** The kind of a backup file. `database` is a plain database. */
export type BackupKind = 'archive' | 'encrypted for recipients' | 'encrypted with a passphrase' | 'database'

/** What stays free on the disk, so that a server on the same disk continues. */
const RESERVE_BYTES = 33_554_432
/** The largest entry that is not the database. */
const MAX_SMALL_BYTES = 16_777_216
const MAX_ENTRIES = 10_000

/** How many bytes of a backup tell its kind. */
export const BEGINNING_BYTES = 512

/** The kind of a backup file. @throws Refusal 400 `not_a_backup` when `file` is not a backup. */
export function backupKindOf(file: string): BackupKind {
  const beginning = Buffer.alloc(BEGINNING_BYTES)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, beginning, 0, BEGINNING_BYTES, 0)
  } finally {
    closeSync(handle)
  }
  return kindOfBeginning(beginning, file)
}

/** The kind of the backup `name` that begins with these bytes. @throws Refusal 400 `not_a_backup` */
export function kindOfBeginning(beginning: Buffer, name: string): BackupKind {
  const encryption = encryptionOf(beginning)
  if (encryption !== null)
    return encryption === 'passphrase' ? 'encrypted with a passphrase' : 'encrypted for recipients'
  if (beginning.toString('latin1', 0, 16) === 'SQLite format 3\0') return 'database'
  if (isCompressed(beginning) || beginning.toString('latin1', 257, 262) === 'ustar') return 'archive'
  throw new Refusal(400, 'not_a_backup', `${name} is neither a Windfall backup nor a database`)
}

/**
 * Writes the entries of `archive` into `folder`, under their names, and returns the manifest. If it throws, the
 * contents of `folder` must not be used. A small archive can have a large content: it is never more than what is free.
 *
 * @throws Refusal 400 `damaged_backup` when any byte differs, `wrong_key` when `key` does not decrypt the archive; 507
 * `no_room`.
 */
export async function unpack(
  archive: string,
  folder: string,
  key: DecryptionKey | null,
  freeBytes: FreeBytes = freeBytesOf,
): Promise<Manifest> {
  mkdirSync(join(folder, 'files'), { recursive: true, mode: 0o700 })
  const archiveBytes = createReadStream(archive)
  try {
    const chunks = key === null ? archiveBytes : await decrypt(archiveBytes, key)
    const room = roomFor(archive, freeBytes(folder) - RESERVE_BYTES)
    await extract(room.limiting(verifyingDigest(decompress(chunks))), folder, room.assertFits)
    const manifest = v.parse(Manifest, JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')))
    for (const entry of manifest.entries) await assertEntry(folder, entry)
    return manifest
  } catch (error) {
    if (error instanceof Refusal) throw error
    if (isFull(error))
      throw new Refusal(507, 'no_room', `no room for the content of ${archive}: ${reasonOf(error)}`)
    throw new Refusal(400, 'damaged_backup', `${archive} is damaged or incomplete: ${reasonOf(error)}`)
  }
}

/** Passes the chunks on. Throws if the last entry is not the SHA-256 of all bytes before it. */
const verifyingDigest = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  replacingEnd(chunks, TAIL_BYTES, async (last, digest) => {
    if (!last.equals(await tailOf(digest))) throw new Error('its SHA-256 does not match')
    return last
  })

/** The room for the content of `archive`, in bytes. Its functions throw Refusal 507 `no_room`. */
function roomFor(archive: string, room: number) {
  function assertFits(bytes: number): void {
    if (bytes <= room) return
    const [needed, free] = [bytes, Math.max(0, room)].map((one) => Math.ceil(one / 1_048_576))
    const words = `it is ${needed} MB or more, but only ${free} MB are free, without a reserve of 32 MB`
    throw new Refusal(507, 'no_room', `no room for the content of ${archive}: ${words}`)
  }

  async function* limiting(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of chunks) {
      size += chunk.length
      assertFits(size)
      yield chunk
    }
  }

  return { assertFits, limiting }
}

async function extract(
  chunks: AsyncIterable<Uint8Array>,
  folder: string,
  assertFits: (bytes: number) => void,
): Promise<void> {
  const entries = ReadableStream.from(chunks).pipeThrough(createTarDecoder({ strict: true }))
  let count = 0
  for await (const { header, body } of entries) {
    count += 1
    if (header.type !== 'file' || !isEntryName(header.name) || count > MAX_ENTRIES)
      throw new Error(`it contains an unexpected entry ${header.name}`)
    if (header.name !== DATABASE && header.size > MAX_SMALL_BYTES)
      throw new Error(`its entry ${header.name} has more than 16 MB`)
    assertFits(header.size)
    await pipeline(
      body,
      createWriteStream(join(folder, header.name), { mode: 0o600, flags: 'wx', flush: true }),
    )
  }
}

async function assertEntry(
  folder: string,
  { name, bytes, sha256 }: Manifest['entries'][number],
): Promise<void> {
  const hash = createHash('sha256')
  let length = 0
  if (!isEntryName(name)) throw new Error(`its manifest has an unexpected entry ${name}`)
  for await (const chunk of createReadStream(join(folder, name))) {
    hash.update(chunk)
    length += chunk.length
  }
  if (length !== bytes || hash.digest('hex') !== sha256)
    throw new Error(`${name} does not match the manifest`)
}
