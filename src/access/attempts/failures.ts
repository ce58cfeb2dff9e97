/** Delays the attempts of an account after failures, from wherever they came. The counts are in memory. */
import type { Clock } from '../../clock.ts'
import { setNewest } from '../../http/clients/newest.ts'

/** Consecutive failures before attempts are delayed; and the bounds of the delay. */
const FREE_FAILURES = 3
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5_000
/** After this time without a failure, attempts are no longer delayed. */
const RESET_AFTER_MS = 15 * 60_000
/** The most accounts in memory. The one that failed longest ago is dropped first. */
const MAX_ACCOUNTS = 10_000

type Failures = { count: number; at: number }

/** Opens the failures of accounts. `clock` never jumps. */
export function openFailures(clock: Clock) {
  const byAccount = new Map<string, Failures>()

  const recentOf = (account: string): number => {
    const { count, at } = byAccount.get(account) ?? { count: 0, at: 0 }
    return clock() - at > RESET_AFTER_MS ? 0 : count
  }

  /** How long the next attempt waits, in milliseconds. */
  function delayOf(account: string): number {
    const count = recentOf(account)
    return count <= FREE_FAILURES ? 0 : Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE_FAILURES))
  }

  function note(account: string): void {
    const count = Math.min(recentOf(account) + 1, 100)
    setNewest(byAccount, account, { count, at: clock() }, MAX_ACCOUNTS)
  }

  return { delayOf, note, forget: (account: string): boolean => byAccount.delete(account) }
}
