/** Reads the JSON body of a request within limits of size, nesting, chunks and memory. */
import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../addresses.ts'
import { type BodyBudget, openBodyAccount } from './budget.ts'
import { faultLocation } from './malformed.ts'

/** Deeper values are refused, so that recursion over a body cannot overflow the stack. */
export const MAX_NESTING = 32

/**
 * The maximum number of chunks of a body: FREE_PIECES, and one more for each 64 bytes. A chunk of any size costs as
 * much processor time as a kilobyte. JSON that a client sends token by token stays far below.
 */
const FREE_PIECES = 4_096
const BYTES_PER_PIECE = 64

/** The minimum size of the first buffer of a body in several chunks. */
const MIN_BUFFER_BYTES = 1_024

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'too_large', `The body is too large; the limit is ${limit} bytes.`)
}

function tooManyBodies(): Refusal {
  const headers = { 'retry-after': '1' }
  return new Refusal(503, 'busy', 'Too many request bodies are in progress; try again.', { headers })
}

function tooFragmented(): Refusal {
  const detail = `The body has too many small chunks; send at least ${BYTES_PER_PIECE} bytes in each.`
  return new Refusal(400, 'body_fragmented', detail, { headers: { connection: 'close' } })
}

function bodyIncomplete(): Refusal {
  return new Refusal(400, 'invalid_json', 'The connection was closed before the whole body had arrived.')
}

/** One header. On Node.js it does not build a Headers object. */
export function header(event: H3Event, name: string): string | undefined {
  const node = event.runtime?.node
  if (node === undefined) return event.req.headers.get(name) ?? undefined
  const value = node.req.headers[name]
  return typeof value === 'string' ? value : value?.join(', ')
}

/** Refuses a body by its headers, before any of it is read; null if they are acceptable. */
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

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Refusal(400, 'invalid_json', 'The body is empty; send a JSON value.')
  if (!isUtf8(bytes)) throw new Refusal(400, 'invalid_json', 'The body is not UTF-8.')
  const text = bytes.toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal(400, 'invalid_json', `The body is not JSON: ${faultLocation(text)}.`)
  }
  if (!isDeeper(value, MAX_NESTING)) return value
  throw new Refusal(400, 'invalid_json', `The body is nested deeper than ${MAX_NESTING} levels.`)
}

/** Options for reading a body. `expected` is the announced length, at most `limit`. */
type BodyOptions = Readonly<{ limit: number; expected: number; address: string; room: BodyBudget }>

/**
 * Collects one body. A single chunk is used directly; several are copied into one buffer that doubles as it grows, so
 * that the cost depends on bytes and not on chunks. Call `drop` in every case when the body ends.
 */
function openBody({ limit, expected, address, room }: BodyOptions) {
  const account = openBodyAccount(address, room)
  let buffer: Buffer = Buffer.alloc(0)
  let size = 0
  let pieces = 0

  /** Adds a chunk, or returns why it is refused. */
  function take(piece: Uint8Array): Refusal | null {
    const needed = size + piece.length
    pieces += 1
    if (needed > limit) return tooLarge(limit)
    if (pieces > FREE_PIECES + needed / BYTES_PER_PIECE) return tooFragmented()
    if (needed > buffer.length && !growFor(piece, needed)) return tooManyBodies()
    if (size > 0) buffer.set(piece, size)
    size = needed
    return null
  }

  function growFor(piece: Uint8Array, needed: number): boolean {
    const doubled = Math.min(expected, Math.max(2 * buffer.length, MIN_BUFFER_BYTES))
    const capacity = size === 0 ? needed : Math.max(needed, doubled)
    if (!account.growTo(capacity)) return false
    if (size === 0) {
      buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    } else {
      const larger = Buffer.allocUnsafeSlow(capacity)
      buffer.copy(larger, 0, 0, size)
      buffer = larger
    }
    return true
  }

  const whole = (): Buffer => buffer.subarray(0, size)

  function drop(): void {
    account.close()
    buffer = Buffer.alloc(0)
  }

  return { take, whole, drop }
}

/** Settles once. The listeners stay: removing them costs more than calling them without effect. */
function readFromNode(req: IncomingMessage, options: BodyOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A stream that is already closed emits no event.
    if (req.destroyed) return reject(bodyIncomplete())
    const body = openBody(options)
    let settled = false

    function refuse(refusal: Refusal): void {
      settled = true
      body.drop()
      reject(refusal)
    }
    req.on('data', (piece: Buffer) => {
      if (settled) return
      const refusal = body.take(piece)
      if (refusal !== null) refuse(refusal)
    })
    req.on('end', () => {
      if (settled) return
      settled = true
      try {
        resolve(parseJson(body.whole()))
      } catch (error) {
        reject(error)
      }
      body.drop()
    })
    req.on('close', () => {
      if (!settled) refuse(bodyIncomplete())
    })
  })
}

async function readFromWeb(request: Request, options: BodyOptions): Promise<unknown> {
  const body = openBody(options)
  try {
    for await (const piece of request.body ?? []) {
      const refusal = body.take(piece)
      if (refusal !== null) throw refusal
    }
    return parseJson(body.whole())
  } finally {
    body.drop()
  }
}

/**
 * Reads the body as JSON of at most `limit` bytes. As in JSON.parse, the last of several equal keys wins, a number
 * becomes the nearest double (beyond 2^53 not every integer has one: send such ids as strings) and `__proto__` is a
 * plain key.
 *
 * @throws Refusal 415 unless the content type is application/json without compression; 413 when the announced or actual
 * size exceeds the limit; 400 `invalid_json` if the body is not UTF-8, not JSON (with the place, without the text) or
 * nested deeper than MAX_NESTING; 400 `body_fragmented` for thousands of tiny chunks; 503 `busy` when the bodies in
 * progress use too much memory (see `openBodyAccount`, also for `room`).
 */
export function readJson(event: H3Event, limit: number, room: BodyBudget = 'common'): Promise<unknown> {
  const refused = refusedByHeaders(event, limit)
  if (refused !== null) return Promise.reject(refused)
  const announced = Number(header(event, 'content-length') ?? limit)
  const options = { limit, expected: Math.min(announced, limit), address: clientAddress(event), room }
  const req = event.runtime?.node?.req
  return req instanceof IncomingMessage ? readFromNode(req, options) : readFromWeb(event.req, options)
}
