/** Packs, compresses and encrypts a backup on a worker thread. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { TarPackController } from 'modern-tar'
import { onThread, runOnThread } from '../../thread.ts'
import type { Encryption } from './age.ts'
import { END_BYTES, MANIFEST, type Manifest, replacingEnd, tailOf } from './format.ts'
import { compress } from './zstd.ts'

const PACK_TASK = 'pack'
const CHUNK_BYTES = 262_144

/** A file to pack. Its content comes from the file `source`, or is `bytes`. */
export type ArchiveFile =
  | { name: string; path: string; source: string }
  | { name: string; path: string; bytes: Uint8Array }

type Task = {
  windfall: typeof PACK_TASK
  destination: string
  files: readonly ArchiveFile[]
  manifestFields: Omit<Manifest, 'entries'>
  encryption: Encryption | null
}

/** The size and the SHA-256 of the archive on the disk. */
type Packed = { bytes: number; sha256: string }

/**
 * Writes the archive to `destination` (mode 0600), which must not exist, syncs it to the disk and reads it back.
 *
 * @throws Error when the archive cannot be written or reads back differently; the reason of `signal` when it aborts.
 */
export function pack(task: Omit<Task, 'windfall'>, signal: AbortSignal): Promise<Packed> {
  return runOnThread(import.meta.url, { windfall: PACK_TASK, ...task } satisfies Task, signal)
}

async function packArchive({ destination, files, manifestFields, encryption }: Task): Promise<Packed> {
  // Only the thread needs these packages; this file is also loaded by the server.
  const [{ createTarPacker }, { encrypt }] = await Promise.all([import('modern-tar'), import('./age.ts')])
  const { readable, controller } = createTarPacker()
  const adding = addAll(controller, files, manifestFields).catch((error: unknown) => controller.error(error))
  const compressed = compress(replacingEnd(readable, END_BYTES, (_, digest) => tailOf(digest)))
  const writtenHash = createHash('sha256')
  await pipeline(
    encryption === null ? compressed : await encrypt(compressed, encryption),
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        writtenHash.update(chunk)
        yield chunk
      }
    },
    createWriteStream(destination, { flags: 'wx', mode: 0o600, flush: true }),
  )
  await adding
  const sha256 = writtenHash.digest('hex')
  if ((await digestOf(destination)) !== sha256)
    throw new Error('the backup on the disk does not match what was written')
  return { bytes: statSync(destination).size, sha256 }
}

async function addAll(
  controller: TarPackController,
  files: readonly ArchiveFile[],
  manifestFields: Task['manifestFields'],
): Promise<void> {
  const mtime = new Date(manifestFields.created_at)
  const entries: Manifest['entries'] = []
  for (const file of files) {
    const bytes = 'source' in file ? statSync(file.source).size : file.bytes.length
    const chunks =
      'source' in file ? createReadStream(file.source, { highWaterMark: CHUNK_BYTES }) : [file.bytes]
    const sha256 = await addOne(controller, { name: file.name, size: bytes, mode: 0o600, mtime }, chunks)
    entries.push({ name: file.name, path: file.path, bytes, sha256 })
  }
  const manifest: Manifest = { ...manifestFields, entries }
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  await addOne(controller, { name: MANIFEST, size: text.length, mode: 0o600, mtime }, [text])
  controller.finalize()
}

type Header = Parameters<TarPackController['add']>[0]

/** Adds one entry and resolves with its SHA-256. */
async function addOne(
  controller: TarPackController,
  header: Header,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  const hash = createHash('sha256')
  const writer = controller.add(header).getWriter()
  for await (const chunk of chunks) {
    hash.update(chunk)
    await writer.write(chunk)
  }
  await writer.close()
  return hash.digest('hex')
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  const handle = await open(file, 'r')
  for await (const chunk of handle.createReadStream({ highWaterMark: CHUNK_BYTES })) hash.update(chunk)
  return hash.digest('hex')
}

onThread(PACK_TASK, packArchive)
