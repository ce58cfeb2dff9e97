/** What may be asked: the body of a request as JSON, read with every limit in force before anything is kept. */
import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { whereMalformed } from './malformed.ts'

/** Deeper values are refused, so that no recursion over what was sent can run out of stack. */
export const deepestNesting = 32

/** So many bytes of bodies that have not come to their end are kept at most, in the whole process. */
const mostUnderWay = 64 * 1024 * 1024

/** What a piece takes besides its bytes: a body that comes byte by byte takes a multiple of itself. */
const bytesPerPiece = 256

let underWay = 0

const jsonType = /^application\/json\s*(?:;|$)/i

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'too_large', `The body may have ${limit} bytes at most.`)
}

function tooMany(): Refusal {
  const headers = { 'retry-after': '1' }
  return new Refusal(503, 'busy', 'Too many bodies are being sent at once; try again.', { headers })
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

/** The pieces of one body. `drop` is to be called however it ends. */
function openPieces(limit: number) {
  const pieces: Uint8Array[] = []
  let size = 0
  let kept = 0

  /** Keeps one more, or says why not. */
  function take(piece: Uint8Array): Refusal | null {
    const cost = piece.length + bytesPerPiece
    if (size + piece.length > limit) return tooLarge(limit)
    if (underWay + cost > mostUnderWay) return tooMany()
    size += piece.length
    kept += cost
    underWay += cost
    pieces.push(piece)
    return null
  }

  function whole(): Buffer {
    const [only] = pieces
    return pieces.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(pieces, size)
  }

  function drop(): void {
    underWay -= kept
    kept = 0
    pieces.length = 0
  }

  return { take, whole, drop }
}

/** Settles once; the listeners stay, because taking them off costs more than letting them find nothing to do. */
function readFromNode(req: IncomingMessage, limit: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A stream that is closed already sends no event that would end the wait.
    if (req.destroyed) return reject(cutShort())
    const pieces = openPieces(limit)
    let settled = false

    function refuse(refusal: Refusal): void {
      settled = true
      pieces.drop()
      reject(refusal)
    }
    req.on('data', (piece: Buffer) => {
      if (settled) return
      const refusal = pieces.take(piece)
      if (refusal !== null) refuse(refusal)
    })
    req.on('end', () => {
      if (settled) return
      settled = true
      try {
        resolve(parseJson(pieces.whole()))
      } catch (error) {
        reject(error)
      }
      pieces.drop()
    })
    req.on('close', () => {
      if (!settled) refuse(cutShort())
    })
  })
}

async function readFromWeb(request: Request, limit: number): Promise<unknown> {
  const pieces = openPieces(limit)
  try {
    for await (const piece of request.body ?? []) {
      const refusal = pieces.take(piece)
      if (refusal !== null) throw refusal
    }
    return parseJson(pieces.whole())
  } finally {
    pieces.drop()
  }
}

/**
 * The body as JSON of at most `limit` bytes. As everywhere in JavaScript the last of several equal keys wins, a number
 * becomes the nearest double (beyond 2^53 not every integer has one: send such ids as strings) and `__proto__` is a key
 * like any other. Throws a `Refusal`: 415 unless the content type is application/json and nothing is compressed; 413 as
 * soon as the limit is passed, announced or counted; 400 `invalid_json` for what is not UTF-8 or not JSON (saying
 * where, never repeating it) or is nested deeper than `deepestNesting`; 503 `busy` when all the bodies under way in this
 * process together have become too much to keep.
 */
export function readJson(event: H3Event, limit: number): Promise<unknown> {
  const refused = refusedByHeaders(event, limit)
  if (refused !== null) return Promise.reject(refused)
  const req = event.runtime?.node?.req
  return req instanceof IncomingMessage ? readFromNode(req, limit) : readFromWeb(event.req, limit)
}
