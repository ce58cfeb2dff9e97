/** Sends responses. `security_headers.ts` has the headers of every response. */
import { ServerResponse } from 'node:http'
import { type H3Event, HTTPResponse } from 'h3'
import { yieldToEventLoop } from '../turns.ts'
import { compress, type Encoding, encodingFor } from './compression.ts'
import { type FlatHeaders, headersOfType } from './security_headers.ts'

/** The property of a `JsonText` that contains the text. */
const JSON_TEXT = Symbol('JSON text')
/** The number of characters of JSON that are produced in one turn of the event loop. */
const CHARACTERS_PER_SLICE = 131_072

/** A response body that is JSON already. */
type JsonText = Readonly<{ [JSON_TEXT]: string }>

/** The result of a handler that has its JSON as a text. */
export const jsonText = (text: string): JsonText => ({ [JSON_TEXT]: text })

/** Serializes a response whose array `name` may be long. Each turn of the event loop serializes a few elements. */
export async function jsonInSlices<Name extends string>(
  answer: Record<Name, readonly object[]>,
  name: Name,
): Promise<JsonText> {
  const { [name]: list, ...rest } = answer
  let text = ''
  let yieldAt = CHARACTERS_PER_SLICE
  for (const element of list) {
    text += `${text === '' ? '' : ','}${JSON.stringify(element)}`
    if (text.length < yieldAt) continue
    yieldAt = text.length + CHARACTERS_PER_SLICE
    await yieldToEventLoop()
  }
  return jsonText(JSON.stringify({ ...rest, [name]: [] }).replace(/\]}$/, () => `${text}]}`))
}

/** The result of a handler as JSON; null for undefined. */
export function jsonOf(result: unknown): string | null {
  if (result === undefined) return null
  return typeof result === 'object' && result !== null && JSON_TEXT in result
    ? String(result[JSON_TEXT])
    : JSON.stringify(result)
}

/** The result for h3 after the Node.js response was written. h3 does not change a response that was sent. */
const ALREADY_SENT = new Response(null)

const headersByEvent = new WeakMap<H3Event, string[]>()

/**
 * Adds a header to the response of a handler that returns a value. A handler that returns a `Response` sets headers
 * there. This avoids h3's `Headers` object, which takes 2 µs to create.
 */
export function addHeader(event: H3Event, name: string, value: string): void {
  const headers = headersByEvent.get(event) ?? []
  headers.push(name, value)
  headersByEvent.set(event, headers)
}

/** The headers that a handler added with `addHeader`. */
export const addedHeaders = (event: H3Event): FlatHeaders => headersByEvent.get(event) ?? []

/** Merges `headers` and `own`. A header in `own` replaces headers of the same name. */
export function overrideHeaders(headers: string[], own: FlatHeaders): string[] {
  if (own.length === 0) return headers
  const names = new Set(pairsOf(own).map(([name]) => name))
  const rest = pairsOf(headers).filter(([name]) => !names.has(name))
  return [...rest.flat(), ...own]
}

function pairsOf(flat: FlatHeaders): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return pairs
}

/** Sends a text, or no body if `body` is null. Compresses a long text if the client accepts a compressed response. */
export function sendText(event: H3Event, status: number, body: string | null, headers: string[]): unknown {
  const encoding = body === null ? null : encodingFor(event, body)
  return body === null || encoding === null
    ? send(event, status, body, headers)
    : sendCompressed(event, status, body, encoding, headers)
}

async function sendCompressed(
  event: H3Event,
  status: number,
  body: string,
  encoding: Encoding,
  headers: readonly string[],
): Promise<unknown> {
  const bytes = await compress(body, encoding)
  return send(event, status, new Uint8Array(bytes), [
    ...headers,
    'content-encoding',
    encoding,
    'vary',
    'accept-encoding',
  ])
}

/**
 * Writes to the Node.js response directly. A web `Response` would take 2 µs more, a tenth of the time of a request. The
 * response to a HEAD request has the headers of GET.
 */
function send(
  event: H3Event,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | null,
  headers: string[],
): unknown {
  if (body !== null) headers.push('content-length', String(Buffer.byteLength(body)))
  const res = event.runtime?.node?.res
  if (!(res instanceof ServerResponse)) {
    return new Response(event.req.method === 'HEAD' ? null : body, { status, headers: pairsOf(headers) })
  }
  res.writeHead(status, headers)
  // Node.js omits the body if the method or the status does not allow one.
  res.end(body ?? undefined)
  return ALREADY_SENT
}

/** Whether a handler returned a response instead of a value. */
export function isResponse(result: unknown): result is Response | HTTPResponse {
  return result instanceof Response || result instanceof HTTPResponse
}

/** Adds `headers` to a handler's response. A header that the handler set is not replaced. */
export function withHeaders(result: Response | HTTPResponse, headers: FlatHeaders): Response {
  const all = new Headers(result.headers)
  for (const [name, value] of pairsOf([...headersOfType(all.get('content-type') ?? ''), ...headers])) {
    if (!all.has(name)) all.set(name, value)
  }
  return new Response(result.body ?? null, { status: result.status ?? 200, headers: all })
}
