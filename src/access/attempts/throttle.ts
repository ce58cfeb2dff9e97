/** Throttles attempts to sign in, by client and by account. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Client } from '../../http/clients/client.ts'
import { openAllowances, type Taken } from './allowances.ts'
import { openFailures } from './failures.ts'

const ADDRESS = { burst: 10, every_ms: 60_000, limit: 'address' }
const NETWORK = { burst: 40, every_ms: 15_000, limit: 'network' }

/** Who tries: `browser` is the id of a browser that signed in before; null for another. */
type Trier = { client: Client; browser: string | null }

/**
 * Whose passwords are checked first: of browsers that signed in before, then of clients without another attempt that
 * failed lately or is under way, then of others.
 */
export type Lane = 'known' | 'clean' | 'later'

export type Throttle = ReturnType<typeof openThrottle>

/** Opens the throttle. `clock` never jumps; `wait` takes milliseconds. */
export function openThrottle({ clock, wait }: { clock: Clock; wait: (ms: number) => Promise<void> }) {
  const allowances = openAllowances(clock)
  const failures = openFailures(clock)

  function take({ client, browser }: Trier): Taken & { lane: Lane } {
    const own = browser === null ? null : takeOfBrowser(browser)
    if (own !== null) return { ...own, lane: 'known' }
    const taken = allowances.take({ [client.address]: ADDRESS, [client.network]: NETWORK })
    return { ...taken, lane: taken.isClean ? 'clean' : 'later' }
  }

  /** A browser without attempts left counts as one that nobody knows: someone may have copied its cookie. */
  function takeOfBrowser(browser: string): Taken | null {
    try {
      return allowances.take({ [browser]: ADDRESS })
    } catch {
      return null
    }
  }

  /**
   * Whether `check` accepts the caller as `account`. An address (IPv6: a /64) has ten attempts and one more each minute, a
   * network (a /24, IPv6: a /48) forty and four more each minute. A browser that signed in before has ten and one more
   * each minute of its own. Attempts that succeed are not counted, nor those for which `check` throws, unless it is
   * `busy`: who makes others wait is not a new caller each time. After failures from any address each attempt is delayed,
   * five seconds at most, but never blocked: the right password always succeeds. The failures of others do not delay a
   * known browser.
   *
   * @throws Refusal 429 `rate_limited` with `retry-after`, before `check` is called; and as `check`.
   */
  async function attempt(
    account: string,
    trier: Trier,
    check: (lane: Lane) => Promise<boolean>,
  ): Promise<boolean> {
    const { lane, giveBack } = take(trier)
    const delayed = lane === 'known' ? `${account} ${trier.browser}` : account
    const ms = failures.delayOf(delayed)
    if (ms > 0) await wait(ms)
    let isAccepted = false
    try {
      isAccepted = await check(lane)
    } catch (error) {
      if (!isBusy(error)) giveBack()
      throw error
    }
    if (isAccepted) {
      giveBack()
      failures.forget(delayed)
    } else {
      failures.note(delayed)
    }
    return isAccepted
  }

  return { attempt }
}

const isBusy = (error: unknown): boolean => error instanceof Refusal && error.code === 'busy'
