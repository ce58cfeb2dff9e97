/** Fetches a response from a source of exchange rates. */
import type { Dispatcher } from 'undici'
import { SourceFault } from './judging.ts'

/** The timeout and the size limit of a response. A year of all currencies is a sixth of the limit. */
const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

/**
 * The text at `url`; null for 404. Does not follow redirects: another host is another source.
 *
 * @throws SourceFault if the request fails or the response cannot contain rates; the signal's reason when aborted.
 */
export async function fetchText(url: string, signal: AbortSignal): Promise<string | null> {
  const { request } = await import('undici')
  try {
    const { statusCode, headers, body } = await request(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: { accept: 'application/json, text/csv', 'user-agent': 'Windfall' },
    })
    const text = await readAll(body)
    if (statusCode === 404) return null
    if (statusCode !== 200) throw new SourceFault(statusText(statusCode))
    if (String(headers['content-type']).includes('text/html') || text.trimStart().startsWith('<'))
      throw new SourceFault('the response is a web page')
    return text
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof SourceFault) throw error
    throw new SourceFault(unreachableText(error))
  }
}

/** The fault of a connection, with the code of the system, TLS or undici. */
function unreachableText(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  if (name === 'TimeoutError') return 'its server did not answer in time'
  return `its server could not be reached (${code ?? message})`
}

const statusText = (status: number): string =>
  status >= 300 && status < 400 ? `it redirects (status ${status})` : `it returned status ${status}`

async function readAll(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) throw new SourceFault('the response is too large')
  }
  return Buffer.concat(chunks).toString()
}
