/** What we compute: an answer from a source of exchange rates, read whole, or why there is none. */
import { type Dispatcher, request } from 'undici'
import { SourceFault } from './judging.ts'

/** How long one answer may take, and how large it may be: a year of all currencies is a sixth of that. */
const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

/**
 * The text at `url`, or null where there is nothing (404). Redirections are not followed: who answers is who was asked.
 *
 * @throws SourceFault in words when nothing that could be rates came; the signal's reason when it was aborted.
 */
export async function fetchText(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    const { statusCode, headers, body } = await request(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: { accept: 'application/json, text/csv', 'user-agent': 'Windfall' },
    })
    const text = await readAll(body)
    if (statusCode === 404) return null
    if (statusCode !== 200) throw new SourceFault(statusText(statusCode))
    if (String(headers['content-type']).includes('text/html') || text.trimStart().startsWith('<'))
      throw new SourceFault('it answered with a web page')
    return text
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof SourceFault) throw error
    throw new SourceFault(`it cannot be reached: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const statusText = (status: number): string =>
  status >= 300 && status < 400 ? `it sends elsewhere (${status})` : `it answered ${status}`

async function readAll(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) throw new SourceFault('its answer is too long')
  }
  return Buffer.concat(chunks).toString()
}
