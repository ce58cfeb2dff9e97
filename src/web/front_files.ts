/** What we compute: the dashboard's page as files: written into the bundle when it is built, read from dist otherwise. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { accepts, type Encoding } from '../http/compression.ts'

declare const BUNDLED_PAGE: string | undefined

/** One file: `br` is what a browser that takes brotli gets, byte for byte. */
type PageFile = { type: string; br: Buffer }
/** A file in the form that somebody takes. */
type Encoded = { encoding: Encoding | null; bytes: Buffer }

/** @throws Error where nothing was built. */
function readPage(): string {
  if (typeof BUNDLED_PAGE === 'string') return BUNDLED_PAGE
  try {
    return readFileSync(new URL('../../dist/page.json', import.meta.url), 'utf8')
  } catch {
    throw new Error('the dashboard’s page is not built; run `node build.mjs`')
  }
}

/** The files by their addresses. Reads nothing until the first is asked for. */
export function openFrontFiles() {
  let files: Map<string, PageFile> | undefined
  const others = new Map<string, Encoded>()

  function all(): Map<string, PageFile> {
    if (files) return files
    const entries = Object.entries<{ type: string; br: string }>(JSON.parse(readPage()))
    files = new Map(entries.map(([path, { type, br }]) => [path, { type, br: Buffer.from(br, 'base64') }]))
    return files
  }

  /** The other forms are made when first asked for: nearly everybody takes brotli. */
  function madeFor(path: string, { br }: PageFile, encoding: 'gzip' | null): Encoded {
    const key = `${encoding ?? 'plain'} ${path}`
    const file = others.get(key)
    if (file) return file
    const plain = brotliDecompressSync(br)
    const encoded = { encoding, bytes: encoding === 'gzip' ? gzipSync(plain) : plain }
    others.set(key, encoded)
    return encoded
  }

  /** The file at an address, in the best form that `accept` (an Accept-Encoding header) names; null where there is none. */
  function find(path: string, accept: string): (Encoded & { type: string }) | null {
    const file = all().get(path)
    if (!file) return null
    if (accepts(accept, 'br')) return { type: file.type, encoding: 'br', bytes: file.br }
    return { type: file.type, ...madeFor(path, file, accepts(accept, 'gzip') ? 'gzip' : null) }
  }

  return { find }
}
