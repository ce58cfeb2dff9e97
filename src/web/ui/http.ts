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

async function problemOf(response: Response): Promise<Problem> {
  try {
    const { code, detail, title, errors } = await response.json()
    const problem = new Problem(
      response.status,
      code ?? 'unknown',
      sentence(detail ?? title ?? response.statusText),
      errors,
    )
    problem.retryAfter = Number(response.headers.get('retry-after')) || null
    return problem
  } catch {
    return new Problem(response.status, 'unknown', `The server responded with status ${response.status}.`)
  }
}

/** The event that is dispatched on `window` when the server reports that the session is no longer valid. */
export const SIGNED_OUT_EVENT = 'signedout'

async function send<Answer>(address: string, options: RequestInit): Promise<Answer> {
  const response = await fetch(address, { credentials: 'same-origin', ...options }).catch(
    (error: unknown) => {
      if (options.signal?.aborted) throw error
      throw new Problem(0, 'offline', 'Cannot reach the server.')
    },
  )
  if (!response.ok) {
    const problem = await problemOf(response)
    if (SIGNED_OUT_CODES.has(problem.code)) window.dispatchEvent(new Event(SIGNED_OUT_EVENT))
    throw problem
  }
  return response.status === 204 ? (undefined as Answer) : ((await response.json()) as Answer)
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
