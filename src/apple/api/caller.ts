/** Authenticated requests to Apple, with retries. */
import type { AppleFault } from './faults.ts'
import { type ApiRequest, type ApiResponse, type HttpClient, openHttpClient } from './http_client.ts'
import { openRetries, type RetryOptions } from './retries.ts'
import type { Tokens } from './tokens.ts'

/**
 * `timeoutMs`: milliseconds without data before a timeout. `onAnswer` is called for each response with its fault, or
 * with null for a success.
 */
export type CallerOptions = Omit<RetryOptions, 'closing'> & {
  timeoutMs?: number | undefined
  onAnswer?: ((fault: AppleFault | null) => void) | undefined
}

const TIMEOUT_MS = 60_000

/** Opens a caller with the tokens of one key. */
export function openCaller(options: CallerOptions & { tokens: Tokens }) {
  const { tokens } = options
  const httpClient: HttpClient = openHttpClient({ timeoutMs: options.timeoutMs ?? TIMEOUT_MS })
  const retrying = openRetries({ ...options, closing: httpClient.closing })
  let acceptedToken: string | undefined

  /** A token other than the rejected one. A concurrent request may have created it already. */
  async function renewToken(refused: string): Promise<string> {
    const current = await tokens()
    return current === refused ? tokens({ isForced: true }) : current
  }

  /** Apple may reject a token that it accepted before the clock was changed, so a 401 is retried with a new token. */
  async function sendOnce(request: ApiRequest): Promise<ApiResponse> {
    const token = await tokens()
    const response = await httpClient.send(request, token)
    if (response.status !== 401) acceptedToken = token
    if (response.status !== 401 || token !== acceptedToken) return response
    const renewed = await renewToken(token)
    const secondResponse = await httpClient.send(request, renewed)
    if (secondResponse.status !== 401) acceptedToken = renewed
    return secondResponse
  }

  /**
   * Sends a request until `faultOf` finds no fault in the response or a retry is useless. `around` wraps each attempt
   * and can refuse it. Throws AppleFault.
   */
  function send(
    request: ApiRequest,
    faultOf: (response: ApiResponse) => AppleFault | null,
    around: (attempt: () => Promise<ApiResponse>) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    return retrying(async () => {
      const response = await around(() => sendOnce(request))
      const fault = faultOf(response)
      options.onAnswer?.(fault)
      if (fault !== null) throw fault
      return response
    })
  }

  return { send, close: httpClient.close }
}
