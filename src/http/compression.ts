/** Compresses long responses. The thread pool does the work, so that it does not block the event loop. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { H3Event } from 'h3'
import { header } from './body/body.ts'

/** The `content-encoding` of a response. */
export type Encoding = 'br' | 'gzip'

/** Shorter responses are not compressed, because they fit into one packet. */
const MIN_BYTES = 1_400
/** Higher qualities take much longer and save little. */
const BROTLI_QUALITY = 4
const BROTLI_WINDOW = 18

/** Whether an Accept-Encoding header accepts the encoding. */
export const accepts = (accept: string, encoding: Encoding): boolean =>
  accept.split(',').some((one) => {
    const [name = '', ...weights] = one.split(';').map((word) => word.trim().toLowerCase())
    return name === encoding && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight))
  })

/**
 * The encoding for sending a text; null for uncompressed. Responses to cross-site requests are never compressed. Their
 * length would reveal their content to a site that controls some of the content (the BREACH attack).
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

/** Compresses a text as UTF-8. */
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
