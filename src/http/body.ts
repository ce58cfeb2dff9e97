/** What may be asked: the body of a request as JSON, read with every limit in force before anything is kept. */
import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { whereMalformed } from './malformed.ts'

/** Deeper values are refused, so that no recursion over what was sent can run out of stack. */
export const deepestNesting = 32

const jsonType = /^application\/json\s*(?:;|$)/i

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'too_large', `The body may have ${limit} bytes at most.`)
}

function cutShort(): Refusal {
  return new Refusal(400, 'invalid_json', 'The connection was closed before the whole body had arrived.')
}

/** One header, without building all of them where the server is Node's. */
export function header(event: H3Event, name: string): string | undefined {
  const node = event.runtime?.node
  if (node === undefined) return event.req.headers.get(name) ?? undefined
  const value = node.req.headers[name]
  return typeof value === 'string' ? value : value?.join(', ')
}

/** What the headers alone forbid, before a byte of the body is read. */
function refusedByHeaders(event: H3Event, limit: number): Refusal | null {
  const type = header(event, 'content-type') ?? ''
  if (type !== 'application/json' && !jsonType.test(type)) {
    return new Refusal(
      415,
      'unsupported_media_type',
      'Send JSON, with the header content-type: application/json.',
    )
  }
  const coding = header(event, 'content-encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const headers = { 'accept-encoding': 'identity' }
    return new Refusal(415, 'unsupported_media_type', 'Send the body as it is, not compressed.', { headers })
  }
  return Number(header(event, 'content-length') ?? 0) > limit ? tooLarge(limit) : null
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Object.values(value)) {
    if (isDeeper(inner, levels - 1)) return true
  }
  return false
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Refusal(400, 'invalid_json', 'The body is empty; send a JSON value.')
  if (!isUtf8(bytes)) throw new Refusal(400, 'invalid_json', 'The body is not UTF-8.')
  const text = bytes.toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal(400, 'invalid_json', `The body is not JSON: ${whereMalformed(text)}.`)
  }
  if (!isDeeper(value, deepestNesting)) return value
  throw new Refusal(400, 'invalid_json', `The body is nested deeper than ${deepestNesting} levels.`)
}

/** Settles once; the listeners stay, because taking them off costs more than letting them find nothing to do. */
function readFromNode(req: IncomingMessage, limit: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A stream that is closed already sends no event that would end the wait.
    if (req.destroyed) return reject(cutShort())
    const chunks: Buffer[] = []
    let size = 0
    let settled = false

    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) return chunks.push(chunk)
      if (settled) return
      settled = true
      chunks.length = 0
      reject(tooLarge(limit))
    })
    req.on('end', () => {
      if (settled) return
      settled = true
      try {
        const [only] = chunks
        resolve(parseJson(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)))
      } catch (error) {
        reject(error)
      }
    })
    req.on('close', () => {
      if (!settled) reject(cutShort())
    })
  })
}

async function readFromWeb(request: Request, limit: number): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return parseJson(Buffer.concat(chunks, size))
}

/**
 * The body as JSON of at most `limit` bytes. As everywhere in JavaScript the last of several equal keys wins, a number
 * becomes the nearest double (beyond 2^53 not every integer has one: send such ids as strings) and `__proto__` is a key
 * like any other. Throws a `Refusal`: 415 unless the content type is application/json and nothing is compressed; 413 as
 * soon as the limit is passed, announced or counted; 400 `invalid_json` for what is not UTF-8 or not JSON (saying
 * where, never repeating it) or is nested deeper than `deepestNesting`.
 */
export function readJson(event: H3Event, limit: number): Promise<unknown> {
  const refused = refusedByHeaders(event, limit)
  if (refused !== null) return Promise.reject(refused)
  const req = event.runtime?.node?.req
  return req instanceof IncomingMessage ? readFromNode(req, limit) : readFromWeb(event.req, limit)
}
