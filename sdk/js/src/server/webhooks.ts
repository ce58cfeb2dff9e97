/** Verifies the webhooks that Windfall sends (Standard Webhooks). */

import type { WebhookEvent } from './event_types.ts'
import { hmacSha256, isEqual, joined } from './hmac.ts'
import { currentTime } from './now.ts'

/** Why a webhook was refused. The first five concern the request, the others the code that receives it. */
export type WebhookErrorCode =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'timestamp_out_of_range'
  | 'wrong_signature'
  | 'invalid_body'
  | 'body_not_raw'
  | 'invalid_secret'

const STATUS_BY_CODE: Readonly<Record<WebhookErrorCode, 400 | 401 | 500>> = {
  missing_header: 401,
  invalid_timestamp: 401,
  timestamp_out_of_range: 401,
  wrong_signature: 401,
  invalid_body: 400,
  body_not_raw: 500,
  invalid_secret: 500,
}

/** A webhook that is not accepted. Answer with `status`. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode
  /** 401 if the request is not from Windfall, 400 if it is no event, 500 if the receiver is set up wrongly. */
  readonly status: 400 | 401 | 500

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.code = code
    this.status = STATUS_BY_CODE[code]
  }
}

/** The raw body: text, or bytes such as a Buffer. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** Headers of any runtime: a `Headers` object, Node’s `request.headers`, or a plain object in any letter case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How many seconds the timestamp may differ from now; 300 by default. */
  toleranceSeconds?: number | undefined
  /** The current time in milliseconds, for tests. */
  now?: number | undefined
}

const DEFAULT_TOLERANCE_SECONDS = 300
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = { min: 24, max: 64 }
const encoder = new TextEncoder()

/**
 * Verifies a webhook and returns its event. `secrets`: the signing secret of the endpoint, or several while it rotates;
 * one that fits suffices.
 *
 * @throws WebhookError with a `code` and the `status` to answer with.
 */
export async function verifyWebhook(
  body: WebhookBody,
  headers: WebhookHeaders,
  secrets: string | readonly string[] | undefined,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = keysOf(secrets)
  const bytes = bytesOf(body)
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  assertRecent(timestamp, options)
  const message = joined(encoder.encode(`${id}.${timestamp}.`), bytes)
  if (!(await isSigned(message, signatures, keys)))
    throw new WebhookError('wrong_signature', 'no signature is that of a known secret for this body')
  return eventIn(bytes)
}

/** @throws WebhookError `invalid_secret` */
function keysOf(secrets: string | readonly string[] | undefined): Uint8Array[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets]
  if (list.length === 0) throw new WebhookError('invalid_secret', 'the list of signing secrets is empty')
  return list.map(keyOf)
}

function keyOf(secret: unknown): Uint8Array {
  const base64 = typeof secret === 'string' && secret.startsWith(SECRET_PREFIX) ? secret.slice(6).trim() : ''
  const key = fromBase64(base64)
  if (key !== null && key.length >= SECRET_BYTES.min && key.length <= SECRET_BYTES.max) return key
  const found = secret === undefined || secret === '' ? 'it is not set' : 'this is another text'
  throw new WebhookError(
    'invalid_secret',
    `a signing secret is whsec_ and base64 of 24 to 64 bytes; ${found}`,
  )
}

function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

/** @throws WebhookError `body_not_raw` */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body)
  if (body instanceof Uint8Array) return body
  // A buffer of another realm, as in test runners, is not an instance of this one's class.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]')
    return new Uint8Array(body as ArrayBuffer)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  throw new WebhookError(
    'body_not_raw',
    'the body must be the raw text or bytes of the request; a parser has changed it or it was not read',
  )
}

/** @throws WebhookError `missing_header` */
function headerOf(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : listedHeader(headers, name)
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookError('missing_header', `the request has no header ${name}`)
}

function listedHeader(headers: object, name: string): string | undefined {
  const values = Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]: [string, unknown]) => value)
    .filter((value) => typeof value === 'string')
  // Several signatures are separated by spaces; of the other headers there is one.
  return values.length === 0 ? undefined : values.join(' ')
}

/** @throws WebhookError `invalid_timestamp` or `timestamp_out_of_range` */
function assertRecent(timestamp: string, { toleranceSeconds, now }: VerifyOptions): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('invalid_timestamp', 'webhook-timestamp is not a number of seconds')
  const tolerance = toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS
  const age = Math.floor((now ?? currentTime()) / 1_000) - Number(timestamp)
  if (Math.abs(age) <= tolerance) return
  throw new WebhookError(
    'timestamp_out_of_range',
    `the webhook was signed ${Math.abs(age)} s ${age > 0 ? 'ago' : 'ahead'}, and ${tolerance} s are tolerated: check both clocks`,
  )
}

/** Whether one of the signatures is that of one of the keys. All are compared. */
async function isSigned(
  message: Uint8Array,
  signatures: string,
  keys: readonly Uint8Array[],
): Promise<boolean> {
  const given = signatures
    // Node joins headers of the same name with a comma.
    .split(/,?\s+/)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => fromBase64(one.slice(3)))
  const expected = await Promise.all(keys.map((key) => hmacSha256(key, message)))
  const matches = given.flatMap((one) => expected.map((other) => one !== null && isEqual(one, other)))
  return matches.includes(true)
}

/** @throws WebhookError `invalid_body` */
function eventIn(bytes: Uint8Array): WebhookEvent {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new WebhookError('invalid_body', 'the body is signed and is not JSON in UTF-8')
  }
  const { type, data } = (body ?? {}) as { type?: unknown; data?: unknown }
  if (typeof type !== 'string' || typeof data !== 'object' || data === null)
    throw new WebhookError('invalid_body', 'the body is signed and is not an event')
  return body as WebhookEvent
}
