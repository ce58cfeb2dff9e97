/** Reads the JSON body of a request, with limits on its size, nesting, number of chunks and memory. */
import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../addresses.ts'
import { type BodyBudget, openBodyAccount } from './budget.ts'
import { faultLocation } from './malformed.ts'

/**
 * The maximum nesting of a body. Deeper values are refused, so that recursion over a body cannot overflow the stack.
 */
export const MAX_NESTING = 32

/**
 * The maximum number of chunks of a body is FREE_CHUNKS plus one for each 64 bytes, because even a tiny chunk costs as
 * much processor time as a kilobyte. JSON that a client sends token by token stays far below the limit.
 */
const FREE_CHUNKS = 4_096
const BYTES_PER_CHUNK = 64

/** The minimum size of the first buffer of a body in several chunks. */
const MIN_BUFFER_BYTES = 1_024

/** What .NET writes before a text. RFC 8259 permits to ignore it. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'too_large', `The body is too large; the limit is ${limit} bytes.`)
}

function tooManyBodies(): Refusal {
  const headers = { 'retry-after': '1' }
  return new Refusal(503, 'busy', 'Too many request bodies are in progress; try again.', { headers })
}

function tooFragmented(): Refusal {
  const detail = `The body has too many small chunks; send at least ${BYTES_PER_CHUNK} bytes in each.`
  return new Refusal(400, 'body_fragmented', detail, { headers: { connection: 'close' } })
}

function bodyIncomplete(): Refusal {
  return new Refusal(400, 'invalid_json', 'The connection was closed before the whole body had arrived.')
}

/** The value of a request header. On Node.js, no `Headers` object is created. */
export function header(event: H3Event, name: string): string | undefined {
  const node = event.runtime?.node
  if (node === undefined) return event.req.headers.get(name) ?? undefined
  const value = node.req.headers[name]
  return typeof value === 'string' ? value : value?.join(', ')
}

/** Whether the connection broke before the body was complete: no answer was delivered. */
export function isAborted(event: H3Event): boolean {
  const req = event.runtime?.node?.req
  return req instanceof IncomingMessage && req.destroyed && !req.complete
}

/** Whether a request has a body, which is not empty. */
export const hasBody = (event: H3Event): boolean =>
  event.runtime?.node === undefined
    ? event.req.body !== null
    : header(event, 'transfer-encoding') !== undefined || Number(header(event, 'content-length') ?? 0) > 0

/** The refusal of a body because of its headers, before the body is read; null if the headers are acceptable. */
function refusedByHeaders(event: H3Event, limit: number): Refusal | null {
  const type = header(event, 'content-type') ?? ''
  if (type !== 'application/json' && !JSON_TYPE.test(type)) {
    return new Refusal(
      415,
      'unsupported_media_type',
      'Send JSON, with the header content-type: application/json.',
    )
  }
  const coding = header(event, 'content-encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const headers = { 'accept-encoding': 'identity' }
    return new Refusal(415, 'unsupported_media_type', 'Send the body uncompressed.', { headers })
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

const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Refusal(400, 'invalid_json', 'The body is empty; send a JSON value.')
  if (!isUtf8(bytes)) throw new Refusal(400, 'invalid_json', 'The body is not UTF-8.')
  const text = withoutMark(bytes).toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal(400, 'invalid_json', `The body is not JSON: ${faultLocation(text)}.`)
  }
  if (!isDeeper(value, MAX_NESTING)) return value
  throw new Refusal(400, 'invalid_json', `The body is nested deeper than ${MAX_NESTING} levels.`)
}

/**
 * Options for reading a body. `expected` is the announced length in bytes, at most `limit`. `onBytes` gets the whole body
 * as sent, valid only during the call.
 */
type BodyOptions = Readonly<{
  limit: number
  expected: number
  address: string
  budget: BodyBudget
  onBytes: ((bytes: Uint8Array) => void) | undefined
}>

/**
 * Collects one body. A single chunk is used directly. Several chunks are copied into one buffer that doubles when it is
 * full, so that the cost depends on the bytes and not on the number of chunks. Always call `release` at the end.
 */
function openBody({ limit, expected, address, budget }: BodyOptions) {
  const account = openBodyAccount(address, budget)
  let buffer: Buffer = Buffer.alloc(0)
  let size = 0
  let chunkCount = 0

  /** Appends a chunk and returns null, or returns the reason for refusing it. */
  function append(chunk: Uint8Array): Refusal | null {
    const needed = size + chunk.length
    chunkCount += 1
    if (needed > limit) return tooLarge(limit)
    if (chunkCount > FREE_CHUNKS + needed / BYTES_PER_CHUNK) return tooFragmented()
    if (needed > buffer.length && !growFor(chunk, needed)) return tooManyBodies()
    if (size > 0) buffer.set(chunk, size)
    size = needed
    return null
  }

  function growFor(chunk: Uint8Array, needed: number): boolean {
    const doubled = Math.min(expected, Math.max(2 * buffer.length, MIN_BUFFER_BYTES))
    const capacity = size === 0 ? needed : Math.max(needed, doubled)
    if (!account.growTo(capacity)) return false
    if (size === 0) {
      buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    } else {
      const larger = Buffer.allocUnsafeSlow(capacity)
      buffer.copy(larger, 0, 0, size)
      buffer = larger
    }
    return true
  }

  const bytes = (): Buffer => buffer.subarray(0, size)

  function release(): void {
    account.close()
    buffer = Buffer.alloc(0)
  }

  return { append, bytes, release }
}

/** Reads a body from Node.js. The listeners are not removed, because that costs more than calling them in vain. */
function readFromNode(req: IncomingMessage, options: BodyOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A request that is already destroyed emits no event.
    if (req.destroyed) return reject(bodyIncomplete())
    const body = openBody(options)
    let isSettled = false

    function refuse(refusal: Refusal): void {
      isSettled = true
      body.release()
      reject(refusal)
    }
    req.on('data', (chunk: Buffer) => {
      if (isSettled) return
      const refusal = body.append(chunk)
      if (refusal !== null) refuse(refusal)
    })
    req.on('end', () => {
      if (isSettled) return
      isSettled = true
      try {
        options.onBytes?.(body.bytes())
        resolve(parseJson(body.bytes()))
      } catch (error) {
        reject(error)
      }
      body.release()
    })
    req.on('close', () => {
      if (!isSettled) refuse(bodyIncomplete())
    })
  })
}

async function readFromWeb(request: Request, options: BodyOptions): Promise<unknown> {
  const body = openBody(options)
  try {
    for await (const chunk of request.body ?? []) {
      const refusal = body.append(chunk)
      if (refusal !== null) throw refusal
    }
    options.onBytes?.(body.bytes())
    return parseJson(body.bytes())
  } finally {
    body.release()
  }
}

/**
 * Reads the body as JSON of at most `limit` bytes. As in JSON.parse, the last of several equal keys wins, a number
 * becomes the nearest double (send ids beyond 2^53 as strings), and “__proto__” is a plain key. `budget` is explained
 * at `openBodyAccount`, `onBytes` at `BodyOptions`.
 *
 * @throws Refusal 415 unless the content type is application/json without compression; 413 when the announced or actual
 * size exceeds the limit; 400 `invalid_json` if the body is not UTF-8, not JSON (with line and column) or nested deeper
 * than MAX_NESTING; 400 `body_fragmented` for thousands of tiny chunks; 503 `busy` when the bodies in progress use too
 * much memory.
 */
export function readJson(
  event: H3Event,
  limit: number,
  budget: BodyBudget = 'common',
  onBytes?: (bytes: Uint8Array) => void,
): Promise<unknown> {
  const refused = refusedByHeaders(event, limit)
  if (refused !== null) return Promise.reject(refused)
  const announced = Number(header(event, 'content-length') ?? limit)
  const expected = Math.min(announced, limit)
  const options = { limit, expected, address: clientAddress(event), budget, onBytes }
  const req = event.runtime?.node?.req
  return req instanceof IncomingMessage ? readFromNode(req, options) : readFromWeb(event.req, options)
}
