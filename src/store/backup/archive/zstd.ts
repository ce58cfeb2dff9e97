/** Compresses backups with zstd (RFC 8878). The program `zstd` can decompress them, too. */
import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'

/** How the bytes begin. */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Whether a file that begins with these bytes is compressed. */
export const isCompressed = (beginning: Uint8Array): boolean =>
  MAGIC.equals(beginning.subarray(0, MAGIC.length))

/** Compresses the chunks into one frame, which has a checksum. */
export async function* compress(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zstd = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } })
  const writing = writeAll(zstd, chunks).catch((error: unknown) => void zstd.destroy(error as Error))
  yield* zstd
  await writing
}

/** Ends `zstd` only once it has all chunks: with chunks that wait, Node.js would write a second, empty frame. */
async function writeAll(zstd: Transform, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks)
    await new Promise<void>((resolve, reject) => {
      zstd.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
  zstd.end()
}

/**
 * Decompresses the chunks, if they are compressed: backups of 0.1 to 0.4 are not.
 *
 * @throws Error if the frame is damaged, or if bytes follow it
 */
export async function* decompress(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]()
  let beginning = Buffer.alloc(0)
  while (beginning.length < MAGIC.length) {
    const next = await source.next()
    if (next.done === true) break
    beginning = Buffer.concat([beginning, next.value])
  }
  const all = continued(beginning, source)
  yield* isCompressed(beginning) ? inflate(all) : all
}

async function* inflate(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zstd = createZstdDecompress()
  let given = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      given += chunk.length
      yield chunk
    }
  }
  yield* pipeline(Readable.from(counted()), zstd, () => {})
  // Node.js ends where the frame does, and drops the rest.
  if (zstd.bytesWritten !== given) throw new Error('bytes follow its end')
}

async function* continued(
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield beginning
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
