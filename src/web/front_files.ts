/** The dashboard's files, from the production bundle or, in development, from dist/page.json. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { accepts, type Encoding } from '../http/compression.ts'

declare const BUNDLED_PAGE: string | undefined

/** One file. `br` is the brotli response body. */
type PageFile = { type: string; br: Buffer }
/** A file in one content encoding. */
type Encoded = { encoding: Encoding | null; bytes: Buffer }

/** @throws Error if the page is not built */
function readPage(): string {
  if (typeof BUNDLED_PAGE === 'string') return BUNDLED_PAGE
  try {
    return readFileSync(new URL('../../dist/page.json', import.meta.url), 'utf8')
  } catch {
    throw new Error('the dashboard’s page is not built; run `node build.mjs`')
  }
}

/** The files by path. They are read on the first request. */
export function openFrontFiles() {
  let files: Map<string, PageFile> | undefined
  const others = new Map<string, Encoded>()

  function all(): Map<string, PageFile> {
    if (files) return files
    const entries = Object.entries<{ type: string; br: string }>(JSON.parse(readPage()))
    files = new Map(entries.map(([path, { type, br }]) => [path, { type, br: Buffer.from(br, 'base64') }]))
    return files
  }

  /** Other encodings are made on first use, because nearly all browsers accept brotli. */
  function madeFor(path: string, { br }: PageFile, encoding: 'gzip' | null): Encoded {
    const key = `${encoding ?? 'plain'} ${path}`
    const file = others.get(key)
    if (file) return file
    const plain = brotliDecompressSync(br)
    const encoded = { encoding, bytes: encoding === 'gzip' ? gzipSync(plain) : plain }
    others.set(key, encoded)
    return encoded
  }

  /** The file at a path in the best encoding that `accept` (an Accept-Encoding header) allows, or null. */
  function find(path: string, accept: string): (Encoded & { type: string }) | null {
    const file = all().get(path)
    if (!file) return null
    if (accepts(accept, 'br')) return { type: file.type, encoding: 'br', bytes: file.br }
    return { type: file.type, ...madeFor(path, file, accepts(accept, 'gzip') ? 'gzip' : null) }
  }

  return { find }
}
