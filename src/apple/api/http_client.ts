/** HTTPS requests to Apple with limits on time and size. */
import type { Agent, Dispatcher } from 'undici'
import { version } from '../../version.ts'
import { AppleFault } from './faults.ts'

/** `maxBytes`: a larger response is rejected. */
export type ApiRequest = {
  method: 'GET' | 'POST'
  url: URL
  accept: string
  maxBytes: number
  body?: object | undefined
}

/** A raw response. Redirects are returned like any other response, never followed. */
export type ApiResponse = { status: number; header: (name: string) => string | null; body: Buffer }

export type HttpClient = ReturnType<typeof openHttpClient>

/**
 * The time limit of a whole response, as a multiple of `timeoutMs`. A report of millions of rows may take longer than
 * `timeoutMs`, but must end.
 */
const TOTAL_TIMEOUT_FACTOR = 10
const CONNECTIONS = 4
const CONNECT_TIMEOUT_MS = 10_000

const megabytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MB`

/**
 * Opens a signal that aborts on shutdown or after `ms`. Call `release` after use; otherwise its timer keeps running.
 */
function openDeadline(ms: number, closing: AbortSignal) {
  const controller = new AbortController()
  const stop = () => controller.abort(closing.reason)
  const expire = () => controller.abort(new DOMException('it took too long', 'TimeoutError'))
  const timer = setTimeout(expire, ms).unref()
  closing.addEventListener('abort', stop, { once: true })

  function release(): void {
    clearTimeout(timer)
    closing.removeEventListener('abort', stop)
  }

  return { signal: controller.signal, release }
}

async function readAll(
  body: Dispatcher.ResponseData['body'],
  { url, maxBytes }: ApiRequest,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) {
      const detail = `The response of ${url.host} to ${url.pathname} is larger than the limit of ${megabytes(maxBytes)}.`
      throw new AppleFault('unreadable', detail)
    }
  }
  return Buffer.concat(chunks)
}

/** The fault for a failed connection. Its code is from the system, TLS or undici. */
function connectionFault(error: unknown, { url }: ApiRequest): AppleFault {
  if (error instanceof AppleFault) return error
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  const isTimeout = name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code ?? '')
  const detail = isTimeout
    ? `${url.host} did not answer in time. Windfall tries again later.`
    : `${url.host} could not be reached (${code ?? message}). Check that this machine is online and can connect to it.`
  return new AppleFault('unavailable', detail, { code, cause: error })
}

const agentOptions = (timeoutMs: number): Agent.Options => ({
  allowH2: false,
  connections: CONNECTIONS,
  connect: { timeout: Math.min(timeoutMs, CONNECT_TIMEOUT_MS) },
  headersTimeout: timeoutMs,
  bodyTimeout: timeoutMs,
})

/**
 * Opens persistent connections to Apple. `timeoutMs`: milliseconds without data before a timeout. A whole response may
 * take ten times as long.
 */
export function openHttpClient(options: { timeoutMs: number }) {
  const { timeoutMs } = options
  let agent: Agent | null = null
  const closing = new AbortController()

  async function sendOnce(
    apiRequest: ApiRequest,
    token: string | null,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    // The first request loads undici: it is a third of the program, and a start needs none of it.
    const { Agent, request } = await import('undici')
    agent ??= new Agent(agentOptions(timeoutMs))
    const { statusCode, headers, body } = await request(apiRequest.url, {
      method: apiRequest.method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        accept: apiRequest.accept,
        'user-agent': `Windfall/${version}`,
        ...(apiRequest.body && { 'content-type': 'application/json' }),
      },
      body: apiRequest.body === undefined ? null : JSON.stringify(apiRequest.body),
      signal,
      dispatcher: agent,
    })
    const header = (name: string) => {
      const value = headers[name]
      return (Array.isArray(value) ? value[0] : value) ?? null
    }
    return { status: statusCode, header, body: await readAll(body, apiRequest) }
  }

  /**
   * Sends a request and returns the response, whatever its status. `token`: null for a public address. Throws AppleFault: `unavailable` for a connection
   * that fails or breaks, `unreadable` for a response that is too large.
   */
  async function send(apiRequest: ApiRequest, token: string | null): Promise<ApiResponse> {
    closing.signal.throwIfAborted()
    const deadline = openDeadline(TOTAL_TIMEOUT_FACTOR * timeoutMs, closing.signal)
    try {
      return await sendOnce(apiRequest, token, deadline.signal)
    } catch (error) {
      throw connectionFault(error, apiRequest)
    } finally {
      deadline.release()
    }
  }

  /** Aborts running requests and closes the connections. */
  async function close(): Promise<void> {
    closing.abort(new AppleFault('unavailable', 'The request to Apple was aborted: Windfall is stopping.'))
    await agent?.destroy()
  }

  return { send, closing: closing.signal, close }
}
