/** What may be asked: the body of a request as JSON, read with every limit in force before anything is kept. */
import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../addresses.ts'
import { type BodyBudget, openBodyAccount } from './budget.ts'
import { faultLocation } from './malformed.ts'

/** Deeper values are refused, so that no recursion over what was sent can run out of stack. */
export const MAX_NESTING = 32

/**
 * How many pieces a body may come in: so many, and one more for each 64 bytes. A piece costs the processor as much as a
 * kilobyte, whatever its size. JSON that a client sends token by token stays far below.
 */
const FREE_PIECES = 4_096
const BYTES_PER_PIECE = 64

/** The first buffer of a body that comes in several pieces has at least so many bytes. */
const MIN_BUFFER_BYTES = 1_024

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'too_large', `The body may have ${limit} bytes at most.`)
}

function tooManyBodies(): Refusal {
  const headers = { 'retry-after': '1' }
  return new Refusal(503, 'busy', 'Too many bodies are being sent at once; try again.', { headers })
}

function tooFragmented(): Refusal {
  const detail = `The body comes in too many small pieces; send at least ${BYTES_PER_PIECE} bytes in each.`
  return new Refusal(400, 'body_fragmented', detail, { headers: { connection: 'close' } })
}

function bodyIncomplete(): Refusal {
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
    throw new Refusal(400, 'invalid_json', `The body is not JSON: ${faultLocation(text)}.`)
  }
  if (!isDeeper(value, MAX_NESTING)) return value
  throw new Refusal(400, 'invalid_json', `The body is nested deeper than ${MAX_NESTING} levels.`)
}

/** What a body is read with: `expected` is the length that the headers announce, at most `limit`. */
type BodyOptions = Readonly<{ limit: number; expected: number; address: string; room: BodyBudget }>

/**
 * Gathers one body. A single piece stays as it came; several are copied into one buffer that doubles as it grows, so that
 * a body costs its bytes and not its pieces. `drop` is to be called however the body ends.
 */
function openBody({ limit, expected, address, room }: BodyOptions) {
  const account = openBodyAccount(address, room)
  let buffer: Buffer = Buffer.alloc(0)
  let size = 0
  let pieces = 0

  /** Adds a piece, or says why not. */
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

/** Settles once; the listeners stay, because taking them off costs more than letting them find nothing to do. */
function readFromNode(req: IncomingMessage, options: BodyOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A stream that is closed already sends no event that would end the wait.
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
 * The body as JSON of at most `limit` bytes. As everywhere in JavaScript the last of several equal keys wins, a number
 * becomes the nearest double (beyond 2^53 not every integer has one: send such ids as strings) and `__proto__` is a key
 * like any other. Throws a `Refusal`: 415 unless the content type is application/json and nothing is compressed; 413 as
 * soon as the limit is passed, announced or counted; 400 `invalid_json` for what is not UTF-8 or not JSON (saying
 * where, never repeating it) or is nested deeper than `deepestNesting`; 400 `body_fragmented` for thousands of tiny pieces; 503 `busy`
 * when the bodies under way take too much memory (`openBodyAccount` says how much, and what `room` is).
 */
export function readJson(event: H3Event, limit: number, room: BodyBudget = 'common'): Promise<unknown> {
  const refused = refusedByHeaders(event, limit)
  if (refused !== null) return Promise.reject(refused)
  const announced = Number(header(event, 'content-length') ?? limit)
  const options = { limit, expected: Math.min(announced, limit), address: clientAddress(event), room }
  const req = event.runtime?.node?.req
  return req instanceof IncomingMessage ? readFromNode(req, options) : readFromWeb(event.req, options)
}
