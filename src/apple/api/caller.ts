/** What Apple says: a question asked with a key: a token that fits, and another try where that helps. */
import type { AppleFault } from './faults.ts'
import { type ApiRequest, type ApiResponse, type HttpClient, openHttpClient } from './http_client.ts'
import { openRetries, type RetryOptions } from './retries.ts'
import type { Tokens } from './tokens.ts'

/**
 * `patience`: milliseconds of silence after which an answer is given up. `onAnswer` is told what was wrong with each
 * answer, null where nothing was.
 */
export type CallerOptions = Omit<RetryOptions, 'closing'> & {
  timeoutMs?: number | undefined
  onAnswer?: ((fault: AppleFault | null) => void) | undefined
}

const TIMEOUT_MS = 60_000

/** One line to Apple with one key's tokens. */
export function openCaller(options: CallerOptions & { tokens: Tokens }) {
  const { tokens } = options
  const httpClient: HttpClient = openHttpClient({ timeoutMs: options.timeoutMs ?? TIMEOUT_MS })
  const retrying = openRetries({ ...options, closing: httpClient.closing })
  let acceptedToken: string | undefined

  /** Another than the one refused: a neighbour may have made it already. */
  async function renewToken(refused: string): Promise<string> {
    const current = await tokens()
    return current === refused ? tokens({ isForced: true }) : current
  }

  /** A token that was believed before and no more may have met a clock that was set: one made anew is tried, once. */
  async function sendOnce(request: ApiRequest): Promise<ApiResponse> {
    const token = await tokens()
    const response = await httpClient.send(request, token)
    if (response.status !== 401) acceptedToken = token
    if (response.status !== 401 || token !== acceptedToken) return response
    const next = await renewToken(token)
    const again = await httpClient.send(request, next)
    if (again.status !== 401) acceptedToken = next
    return again
  }

  /**
   * Asks until there is an answer that `faultOf` finds nothing wrong with. `around` is told of every single attempt
   * and may refuse it. Throws AppleFault.
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
