/**
 * The format of a backup: a tar archive of the database, the config file, the key files and the manifest, compressed with
 * zstd. The last entry contains the SHA-256 of all bytes before it, which `zstd -dc FILE | head -c -2048 | sha256sum` also
 * computes.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'

/** The names of the entries that are not key files. */
export const DATABASE = 'windfall.db'
export const CONFIG = 'config.toml'
export const MANIFEST = 'manifest.json'
const DIGEST = 'sha256'

/** Whether an archive may contain an entry of this name. Other names could write to paths outside of the folder. */
export const isEntryName = (name: string): boolean =>
  /^(windfall\.db|config\.toml|manifest\.json|sha256|files\/\d+)$/.test(name)

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** One entry. `path` is the original path: relative inside the config folder, absolute outside of it. */
const Entry = v.object({ name: v.string(), path: v.string(), bytes: count, sha256: v.string() })

/** The manifest of an archive. Later versions may add fields. */
export const Manifest = v.object({
  format: v.literal('windfall backup 1'),
  /** The version of Windfall that created it, and the version of its database. */
  windfall: v.string(),
  database_version: count,
  /** In milliseconds since the epoch. */
  created_at: v.number(),
  entries: v.array(Entry),
  /** The number of rows of every table. */
  rows: v.record(v.string(), count),
  /** Environment variables that set a value, and files that could not be read. They are not in the archive. */
  not_included: v.array(v.string()),
})
export type Manifest = v.InferOutput<typeof Manifest>

/** The two empty blocks that end a tar archive (POSIX.1-2024, pax Interchange Format). */
export const END_BYTES = 1024
/** The size of the last entry (a header and one block) and of the end of the archive. */
export const TAIL_BYTES = 2048

/** The last entry and the end of an archive. `digest` is the SHA-256 of all bytes before, in hexadecimal. */
export async function tailOf(digest: string): Promise<Buffer> {
  const body = `${digest}\n`
  const header = { name: DIGEST, size: body.length, mode: 0o600, mtime: new Date(0), uid: 0, gid: 0 }
  const { packTar } = await import('modern-tar')
  return Buffer.from(await packTar([{ header, body }]))
}

type CreateEnd = (last: Buffer, digest: string) => Uint8Array | Promise<Uint8Array>

/**
 * Passes the chunks on, but replaces the last `bytes` bytes by the result of `createEnd`. `createEnd` receives these
 * bytes and the SHA-256 of all bytes before them.
 */
export async function* replacingEnd(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
  createEnd: CreateEnd,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let lastBytes = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const all = Buffer.concat([lastBytes, chunk])
    const ready = Math.max(0, all.length - bytes)
    lastBytes = all.subarray(ready)
    if (ready === 0) continue
    hash.update(all.subarray(0, ready))
    yield all.subarray(0, ready)
  }
  yield await createEnd(lastBytes, hash.digest('hex'))
}
