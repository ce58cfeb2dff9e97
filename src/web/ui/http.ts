/** The HTTP client: reads, writes, and turns every error into a `Problem` with a readable message. */
import { sentence } from './words.ts'

/** An error of the API (RFC 9457) or of the network, with `status` 0. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly errors: { path: string; message: string }[]
  /** Seconds to wait, if the server sent Retry-After. */
  retryAfter: number | null = null

  constructor(
    status: number,
    code: string,
    detail: string,
    errors: { path: string; message: string }[] = [],
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = errors
  }
}

export type Query = Record<string, string | number | null | undefined>

/** Returns the URL of an endpoint. Query parameters that are null, undefined or empty are left out. */
export function addressOf(path: string, query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value))
  }
  const text = params.toString()
  return text === '' ? path : `${path}?${text}`
}

type ProblemBody = { code?: string; detail?: string; title?: string; errors?: Problem['errors'] }

/** The problem of an answer that does not come from Windfall. */
export const foreignAnswer = (status: number): Problem =>
  new Problem(
    status,
    'foreign_answer',
    'The answer is not Windfall’s. A proxy or a sign-in page may stand in between.',
  )

/**
 * The problem of an answer that is not a success. `body` is its JSON, or null. Dispatches SIGNED_OUT_EVENT if the session
 * has ended.
 */
export function refusedAnswer(status: number, body: unknown, retryAfter: number | null): Problem {
  const { code, detail, title, errors } = (body ?? {}) as ProblemBody
  const text = detail ?? title
  const isOwn = code !== undefined && text !== undefined
  const problem = isOwn ? new Problem(status, code, sentence(text), errors) : foreignAnswer(status)
  problem.retryAfter = retryAfter
  if (SIGNED_OUT_CODES.has(problem.code)) window.dispatchEvent(new Event(SIGNED_OUT_EVENT))
  return problem
}

/** The event that is dispatched on `window` when the server reports that the session is no longer valid. */
export const SIGNED_OUT_EVENT = 'signedout'

async function send<Answer>(address: string, options: RequestInit): Promise<Answer> {
  const { status, ok, headers, text } = await answerOf(address, options).catch((error: unknown) => {
    if (options.signal?.aborted) throw error
    throw new Problem(0, 'offline', 'Cannot reach the server.')
  })
  if (status === 204) return undefined as Answer
  const body = jsonOf(text)
  if (!ok) throw refusedAnswer(status, body, Number(headers.get('retry-after')) || null)
  if (body === null) throw foreignAnswer(status)
  return body as Answer
}

/** The whole answer. Rejects if the connection fails, also within the answer. */
async function answerOf(address: string, options: RequestInit) {
  const response = await fetch(address, { credentials: 'same-origin', ...options })
  const { status, ok, headers } = response
  return { status, ok, headers, text: await response.text() }
}

/** The JSON of an answer; null if it is neither an object nor an array, as every answer of Windfall is. */
function jsonOf(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' ? body : null
  } catch {
    return null
  }
}

const SIGNED_OUT_CODES = new Set(['sign_in_required', 'token_required', 'invalid_token'])

/** Sends a GET request. @throws Problem */
export const read = <Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> =>
  send<Answer>(addressOf(path, query), { headers: { accept: 'application/json' }, ...(signal && { signal }) })

type WriteMethod = 'POST' | 'PATCH' | 'DELETE'
/** Sends a request with a JSON body. @throws Problem */
export const write = <Answer>(method: WriteMethod, path: string, body: object = {}): Promise<Answer> =>
  send<Answer>(path, {
    method,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
