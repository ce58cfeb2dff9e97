/** What we compute: the three parts of a compact JWS (RFC 7515 §7.1), strictly: one text for one meaning. */
import { SignatureError } from './signature_error.ts'

/** Apple's header is about 4,200 characters long, nearly all of it certificates. */
const MAX_HEADER_LENGTH = 32_768

/** The parts as they came, and `input`, over which the signature stands. */
export type Compact = { header: string; payload: string; signature: string; input: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What people paste instead of a JWS, so that the answer can say what to do about it. */
function guessFormat(text: string): string {
  if (text.trim() !== text) return 'there is white space around it or a line break at its end'
  if (text.startsWith('{')) return 'this is plain JSON; send the text that Apple signed (jwsRepresentation)'
  if (text.startsWith('MI'))
    return 'this looks like an app receipt; send the transaction as jwsRepresentation'
  if (text.startsWith('ey') && !text.includes('.')) {
    return 'this looks like base64 of JSON, which nobody signed; send jwsRepresentation'
  }
  return `this has ${text.split('.', 9).length} of them`
}

function notCompact(text: string): SignatureError {
  const expected = 'a signed text is three parts of base64url with a dot between each (RFC 7515)'
  return new SignatureError('not_a_jws', `${expected}; ${guessFormat(text)}`)
}

/**
 * The bytes of one part. Only the one canonical spelling is taken: other alphabets, padding, white space and
 * stray bits at the end would let one signed statement wear many texts. Throws SignatureError `not_a_jws`.
 */
export function decodePart(text: string, name: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length > 0 && bytes.toString('base64url') === text) return bytes
  throw new SignatureError('not_a_jws', `the ${name} is not base64url without padding (RFC 7515 §2)`)
}

/**
 * The bytes of the payload, which is long: it is enough that nothing in it is skipped, since the signature stands
 * over its very spelling. Throws SignatureError `not_a_jws`.
 */
export function decodePayload(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (text.length % 4 !== 1 && bytes.length === Math.floor((text.length * 3) / 4)) return bytes
  throw new SignatureError('not_a_jws', 'the payload is not base64url without padding (RFC 7515 §2)')
}

/** Takes the text apart, and decodes nothing yet. Throws SignatureError `not_a_jws`. */
export function splitCompact(jws: string): Compact {
  const first = jws.indexOf('.')
  const second = jws.indexOf('.', first + 1)
  if (first < 1 || second <= first + 1 || second === jws.length - 1) throw notCompact(jws)
  if (jws.indexOf('.', second + 1) !== -1) throw notCompact(jws)
  const [header, payload] = [jws.slice(0, first), jws.slice(first + 1, second)]
  return { header, payload, signature: jws.slice(second + 1), input: jws.slice(0, second) }
}

/** A JSON object from bytes, or null: arrays, bare values, broken UTF-8 and a byte order mark are not one. */
export function decodeObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The certificates that an encoded header names, in base64, leaf first. Throws SignatureError: `algorithm` for
 * anything but ES256, `xcode` for the single certificate of Xcode's local signer, `chain_length` for any other
 * number than three.
 */
export function readHeader(encoded: string): [string, string, string] {
  if (encoded.length > MAX_HEADER_LENGTH)
    throw new SignatureError('header', 'the header is too long to be Apple’s')
  const header = decodeObject(decodePart(encoded, 'header'))
  if (header === null) throw new SignatureError('header', 'the header is not a JSON object in UTF-8')
  if (header.alg !== 'ES256') {
    throw new SignatureError('algorithm', `Apple signs with ES256, this says ${JSON.stringify(header.alg)}`)
  }
  if ('crit' in header) {
    throw new SignatureError('header', 'the header demands extensions (crit) that Apple does not use')
  }
  return certificateChainOf(header.x5c)
}

function certificateChainOf(x5c: unknown): [string, string, string] {
  const list: unknown[] = Array.isArray(x5c) ? x5c : []
  const [leaf, intermediate, root] = list
  if (list.length === 1) {
    const detail = 'signed by Xcode’s local key, which proves nothing about the App Store'
    throw new SignatureError('xcode', detail)
  }
  if (list.length !== 3) {
    const detail = `Apple sends three certificates in x5c, this has ${list.length}`
    throw new SignatureError('chain_length', detail)
  }
  if (typeof leaf === 'string' && typeof intermediate === 'string' && typeof root === 'string') {
    return [leaf, intermediate, root]
  }
  throw new SignatureError('chain', 'the certificates in x5c are not texts')
}
