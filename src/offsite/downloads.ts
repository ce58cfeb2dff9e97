/** Fetches a backup from a bucket into a file. */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { FoundBackup } from './remote_backups.ts'
import type { S3 } from './s3.ts'

/** The first `bytes` bytes of an object. */
export const beginningOf = (s3: Pick<S3, 'get'>, key: string, bytes: number): Promise<Buffer> =>
  s3.get(
    key,
    async ({ body }) => {
      const chunks: Uint8Array[] = []
      let size = 0
      // A service can ignore the range.
      for await (const chunk of body) {
        chunks.push(chunk)
        size += chunk.length
        if (size >= bytes) break
      }
      return Buffer.concat(chunks).subarray(0, bytes)
    },
    bytes,
  )

/**
 * Writes an object to the new file `file` (mode 0600) and compares its size, and its checksum where the service tells it.
 * `onProgress` gets the number of bytes that have arrived.
 *
 * @throws Error when they differ, or the file cannot be written
 */
export async function download(
  s3: Pick<S3, 'get' | 'head'>,
  { key, url, bytes }: FoundBackup,
  file: string,
  onProgress: (received: number) => void,
): Promise<void> {
  const facts = await s3.head(key)
  const hash = createHash('sha256')
  let received = 0
  await s3.get(key, ({ body }) =>
    pipeline(
      body,
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          received += chunk.length
          if (received > bytes) throw new Error(`More than the ${bytes} bytes of ${url} arrive. Try again.`)
          onProgress(received)
          yield chunk
        }
      },
      createWriteStream(file, { flags: 'wx', mode: 0o600 }),
    ),
  )
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes of ${url} arrived. Try again.`)
  if (facts?.sha256 != null && facts.sha256 !== hash.digest('hex'))
    throw new Error(`What arrived of ${url} does not have its checksum. Try again.`)
}
