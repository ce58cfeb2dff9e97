/** The dashboard's files. */
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { accepts, type Encoding } from '../http/compression.ts'
import { asset } from '../program/assets.ts'

/** A file of the dashboard. `br` is its content, compressed with brotli. */
type PageFile = { type: string; br: Buffer }
/** The content of a file in one content encoding; null means uncompressed. */
type Encoded = { encoding: Encoding | null; bytes: Buffer }

/** Finds files by path. The files are read on the first request. */
export function openFrontFiles() {
  let files: Map<string, PageFile> | undefined
  const encodedByKey = new Map<string, Encoded>()

  function loadFiles(): Map<string, PageFile> {
    if (files) return files
    const entries = Object.entries<{ type: string; br: string }>(JSON.parse(asset('page.json')))
    files = new Map(entries.map(([path, { type, br }]) => [path, { type, br: Buffer.from(br, 'base64') }]))
    return files
  }

  /** Computes the gzip or uncompressed content on first use, because nearly all browsers accept brotli. */
  function encodeFile(path: string, { br }: PageFile, encoding: 'gzip' | null): Encoded {
    const key = `${encoding ?? 'plain'} ${path}`
    const file = encodedByKey.get(key)
    if (file) return file
    const plain = brotliDecompressSync(br)
    const encoded = { encoding, bytes: encoding === 'gzip' ? gzipSync(plain) : plain }
    encodedByKey.set(key, encoded)
    return encoded
  }

  /** The file at a path in the best encoding that `accept` (an Accept-Encoding header) allows, or null. */
  function find(path: string, accept: string): (Encoded & { type: string }) | null {
    const file = loadFiles().get(path)
    if (!file) return null
    if (accepts(accept, 'br')) return { type: file.type, encoding: 'br', bytes: file.br }
    return { type: file.type, ...encodeFile(path, file, accepts(accept, 'gzip') ? 'gzip' : null) }
  }

  return { find, has: (path: string): boolean => loadFiles().has(path) }
}
