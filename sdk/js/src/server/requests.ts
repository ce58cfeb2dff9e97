/** Sends requests to Windfall: credentials, timeouts, retries and errors. */

import { type FieldFault, WindfallError } from './errors.ts'
import { currentTime } from './now.ts'

/** What the client needs of an answer of `fetch`. */
export interface FetchAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** A `fetch` function, such as the runtime’s. */
export type Fetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string
    redirect: 'manual'
    signal: AbortSignal
  },
) => Promise<FetchAnswer>

export interface RequestOptions {
  /** The address of Windfall, such as `https://windfall.example.com`. */
  url: string
  /** Replaces the runtime’s `fetch`. */
  fetch?: Fetch | undefined
  /** How long one attempt may take; 30 seconds by default. */
  timeoutMs?: number | undefined
  /** How often a call is repeated; 2 by default, 0 for never. */
  retries?: number | undefined
  /** How long a call may wait between attempts in all; 30 seconds by default. */
  maxWaitMs?: number | undefined
  /** Waits between attempts; `setTimeout` by default. */
  wait?: ((ms: number) => Promise<void>) | undefined
}

/** A request below the address of Windfall. */
export interface Call {
  method: 'GET' | 'POST'
  path: string
  credential: string
  body?: object
  /** A field of every answer, to tell answers of Windfall from others. */
  field: string
}

const DEFAULTS = { timeoutMs: 30_000, retries: 2, maxWaitMs: 30_000 }
const FIRST_DELAY_MS = 500
/** Windfall refused these calls for now, and did nothing. */
const TRY_AGAIN = new Set([429, 503])

/** Opens the sender of requests. @throws WindfallError `invalid_options` */
export function openRequests(options: RequestOptions) {
  const base = baseOf(options.url)
  const { timeoutMs, retries, maxWaitMs } = { ...DEFAULTS, ...definedIn(options) }
  const { wait = waited, fetch = globalThis.fetch } = options
  if (typeof fetch !== 'function')
    throw new WindfallError('invalid_options', 'this runtime has no fetch: pass one as the option fetch')

  /** Sends a call, again if that can help, and returns the JSON of its answer. @throws WindfallError */
  async function send<Answer>(call: Call): Promise<Answer> {
    const body = textOf(call.body)
    let left = maxWaitMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        return (await sendOnce(call, body)) as Answer
      } catch (error) {
        const delay = attempt < retries ? delayOf(call, error, attempt) : null
        if (delay === null || delay > left) throw error
        left -= delay
        await wait(delay)
      }
    }
  }

  async function sendOnce({ method, path, credential, field }: Call, body: string | null): Promise<unknown> {
    const init = { method, headers: headersOf(credential, body), redirect: 'manual' } as const
    const { answer, text } = await within(timeoutMs, async (signal) => {
      const answer = await fetch(`${base}${path}`, { ...init, signal, ...(body !== null && { body }) })
      return { answer, text: await answer.text() }
    })
    const json = parsed(text)
    if (answer.status === 200 && json !== null && field in json) return json
    throw errorOf(answer, json)
  }

  return { send }
}

const definedIn = (options: RequestOptions): Partial<typeof DEFAULTS> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value === 'number'))

const textOf = (body: object | undefined): string | null => (body === undefined ? null : JSON.stringify(body))

/** How long to wait before a call is repeated; null if that cannot help. */
function delayOf(call: Call, error: unknown, attempt: number): number | null {
  if (!(error instanceof WindfallError) || !isRetryable(call, error)) return null
  return error.retryAfter === null ? backoffMs(attempt) : error.retryAfter * 1_000
}

/** A call that got no answer may have had its effect, so only reading is repeated then. */
const isRetryable = ({ method }: Call, { status }: WindfallError): boolean =>
  status === null ? method === 'GET' : TRY_AGAIN.has(status)

/** The delay where Windfall names none, with jitter. */
const backoffMs = (attempt: number): number => FIRST_DELAY_MS * 2 ** attempt * (0.5 + Math.random())

const waited = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function headersOf(credential: string, body: string | null): Record<string, string> {
  const common = { accept: 'application/json', authorization: `Bearer ${credential}` }
  return body === null ? common : { ...common, 'content-type': 'application/json' }
}

/** The address without a slash at its end. @throws WindfallError `invalid_options` */
function baseOf(url: string): string {
  const found = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/i.exec(typeof url === 'string' ? url : '')
  if (found) return url.replace(/\/+$/, '')
  throw new WindfallError(
    'invalid_options',
    'url must be the address of Windfall, such as https://windfall.example.com',
  )
}

/** Runs `work`, which should stop when its signal says so. @throws WindfallError `timeout` or `unreachable` */
async function within<Result>(ms: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new WindfallError('timeout', `no answer within ${ms} ms`))
      controller.abort()
    }, ms)
  })
  try {
    return await Promise.race([work(controller.signal), timeout])
  } catch (error) {
    if (error instanceof WindfallError) throw error
    throw new WindfallError('unreachable', `Windfall could not be reached: ${messageOf(error)}`, {
      cause: error,
    })
  } finally {
    clearTimeout(timer)
  }
}

/** `fetch` hides the reason in the cause. */
function messageOf(error: unknown): string {
  const { cause, message } = (error ?? {}) as { cause?: { message?: unknown }; message?: unknown }
  return [message, cause?.message].filter((text) => typeof text === 'string' && text !== '').join(': ')
}

/** The object in a JSON text; null if it is something else. */
function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

interface Problem {
  code?: unknown
  detail?: unknown
  head?: unknown
  errors?: unknown
}

function errorOf({ status, headers }: FetchAnswer, json: Problem | null): WindfallError {
  const requestId = headers.get('x-request-id')
  const retryAfter = retryAfterOf(headers.get('retry-after'))
  const common = { status, retryAfter, requestId }
  if (typeof json?.code !== 'string')
    return new WindfallError('unexpected_answer', describe(status, headers), common)
  const { code, detail, head, errors } = json
  return new WindfallError(code, typeof detail === 'string' ? detail : `status ${status}`, {
    ...common,
    head: typeof head === 'number' ? head : null,
    errors: Array.isArray(errors) ? (errors as FieldFault[]) : [],
  })
}

function describe(status: number, headers: FetchAnswer['headers']): string {
  const location = headers.get('location')
  const more = location === null ? 'check the url and what is between' : `it redirects to ${location}`
  return `the answer with status ${status} is not one of Windfall: ${more}`
}

/** The seconds of a `retry-after` header in either form. */
function retryAfterOf(text: string | null): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - currentTime()) / 1_000))
}
