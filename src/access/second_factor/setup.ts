/** The setup of an authenticator app. Its secret is in memory until the first code of the app is entered. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Session } from '../sessions.ts'
import type { Authenticator } from './authenticator.ts'

/** How long a secret waits for its first code. */
const VALID_MS = 15 * 60_000

type Prepared = { session_id: string; secret: string; at: number }
type Deps = {
  store: Pick<Store, 'afterCommit'>
  clock: Clock
  /** A clock that never jumps. */
  monotonic: Clock
  authenticator: Pick<Authenticator, 'since' | 'add'>
}

/** Opens the setup. A second one replaces the first. */
export function openSetup({ store, clock, monotonic, authenticator }: Deps) {
  let prepared: Prepared | null = null

  /** A new secret for an app. `account` tells several servers apart. @throws Refusal 409 `second_factor_on`. */
  async function begin({ id }: Session, account: string): Promise<{ secret: string; uri: string }> {
    requireNone()
    const { newSecret, uriOf } = await import('./totp.ts')
    const secret = newSecret()
    prepared = { session_id: id, secret, at: monotonic() }
    return { secret, uri: uriOf(secret, account) }
  }

  /**
   * Checks the first code of the app that the session sets up. The returned function stores the app, inside a unit of
   * work.
   *
   * @throws Refusal 400 `wrong_code`, 409 `second_factor_on`, 409 `setup_expired`; the function also 409 `key_unreadable`.
   */
  async function check({ id }: Session, code: string): Promise<() => void> {
    requireNone()
    const mine = prepared
    if (mine === null || mine.session_id !== id || monotonic() - mine.at >= VALID_MS) throw expired()
    const { stepOf } = await import('./totp.ts')
    const step = stepOf(mine.secret, code, clock())
    if (step === null) throw wrongCode()
    return () => {
      requireNone()
      // Another request may have started a new setup.
      if (prepared !== mine) throw expired()
      authenticator.add(mine.secret, step)
      store.afterCommit(() => {
        prepared = null
      })
    }
  }

  function requireNone(): void {
    if (authenticator.since() === null) return
    throw new Refusal(409, 'second_factor_on', 'an authenticator app is set up already; remove it first')
  }

  return { begin, check }
}

const expired = (): Refusal =>
  new Refusal(
    409,
    'setup_expired',
    'the setup began in another browser, or more than fifteen minutes ago; begin again',
  )

const wrongCode = (): Refusal =>
  new Refusal(
    400,
    'wrong_code',
    'the code is wrong; enter the newest one, and check that the clocks of the phone and of the server are right',
  )
