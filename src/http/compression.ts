/** What we compute: long answers, compressed for who takes them that way; on the thread pool, since others wait here. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { H3Event } from 'h3'
import { header } from './body/body.ts'

/** `content-encoding` of an answer. */
export type Encoding = 'br' | 'gzip'

/** Bytes: what is shorter fits into one packet as it is. */
const MIN_BYTES = 1_400
/** Much more takes much longer, and saves little. */
const BROTLI_QUALITY = 4
const BROTLI_WINDOW = 18

/** Whether an Accept-Encoding header names it, other than to refuse it. */
export const accepts = (accept: string, encoding: Encoding): boolean =>
  accept.split(',').some((one) => {
    const [name = '', ...weights] = one.split(';').map((word) => word.trim().toLowerCase())
    return name === encoding && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight))
  })

/**
 * How a text is to be sent: null is as it is. What another site makes a browser ask for is never compressed: by its
 * length it would tell what is in it, to whoever may choose a part of it (the BREACH attack).
 */
export function encodingFor(event: H3Event, text: string): Encoding | null {
  if (text.length < MIN_BYTES) return null
  const site = header(event, 'sec-fetch-site')
  if (site === 'cross-site' || site === 'same-site') return null
  const accept = header(event, 'accept-encoding') ?? ''
  if (accepts(accept, 'br')) return 'br'
  return accepts(accept, 'gzip') ? 'gzip' : null
}

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

export function compress(text: string, encoding: Encoding): Promise<Buffer> {
  const bytes = Buffer.from(text)
  if (encoding === 'gzip') return compressGzip(bytes)
  return compressBrotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}
