/** What Apple says: a question asked with a key: a token that fits, and another try where that helps. */
import type { AppleFault } from './faults.ts'
import { type Line, openLine, type Received, type Sent } from './http_client.ts'
import { openRetries, type RetryOptions } from './retries.ts'
import type { Tokens } from './tokens.ts'

/**
 * `patience`: milliseconds of silence after which an answer is given up. `onAnswer` is told what was wrong with each
 * answer, null where nothing was.
 */
export type CallerOptions = Omit<RetryOptions, 'closing'> & {
  patience?: number | undefined
  onAnswer?: ((fault: AppleFault | null) => void) | undefined
}

const PATIENCE = 60_000

/** One line to Apple with one key's tokens. */
export function openCaller(options: CallerOptions & { tokens: Tokens }) {
  const { tokens } = options
  const line: Line = openLine({ patience: options.patience ?? PATIENCE })
  const retrying = openRetries({ ...options, closing: line.closing })
  let believed: string | undefined

  /** Another than the one refused: a neighbour may have made it already. */
  async function another(refused: string): Promise<string> {
    const current = await tokens()
    return current === refused ? tokens({ anew: true }) : current
  }

  /** A token that was believed before and no more may have met a clock that was set: one made anew is tried, once. */
  async function askOnce(sent: Sent): Promise<Received> {
    const token = await tokens()
    const received = await line.send(sent, token)
    if (received.status !== 401) believed = token
    if (received.status !== 401 || token !== believed) return received
    const next = await another(token)
    const again = await line.send(sent, next)
    if (again.status !== 401) believed = next
    return again
  }

  /**
   * Asks until there is an answer that `faultOf` finds nothing wrong with. `around` is told of every single attempt
   * and may refuse it. Throws AppleFault.
   */
  function ask(
    sent: Sent,
    faultOf: (received: Received) => AppleFault | null,
    around: (attempt: () => Promise<Received>) => Promise<Received>,
  ): Promise<Received> {
    return retrying(async () => {
      const received = await around(() => askOnce(sent))
      const fault = faultOf(received)
      options.onAnswer?.(fault)
      if (fault !== null) throw fault
      return received
    })
  }

  return { ask, close: line.close }
}
