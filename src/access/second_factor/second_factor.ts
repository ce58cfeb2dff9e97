/** The second factor of the password: an authenticator app and its recovery codes. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Session } from '../sessions.ts'
import { openAuthenticator, type RightCode, type Sealing } from './authenticator.ts'
import { openRecoveryCodes } from './recovery_codes.ts'
import { openSetup } from './setup.ts'

export type SecondFactor = ReturnType<typeof openSecondFactor>

type Deps = { store: Store; clock: Clock; monotonic: Clock; sealing: Sealing }

/** Opens the second factor. */
export function openSecondFactor(deps: Deps) {
  const authenticator = openAuthenticator(deps)
  const recoveryCodes = openRecoveryCodes(deps.store, deps.clock)
  const setup = openSetup({ ...deps, authenticator })

  const isOn = (): boolean => authenticator.since() !== null

  /** @throws Refusal 404 `second_factor_off`. */
  function requireOn(): void {
    if (!isOn()) throw new Refusal(404, 'second_factor_off', 'no authenticator app is set up')
  }

  /**
   * A code of the app or a recovery code, if it is right and was not used before; otherwise null.
   *
   * @throws Refusal 429 `rate_limited`, 409 `key_unreadable`.
   */
  async function check(text: string): Promise<RightCode | null> {
    const digits = digitsOf(text)
    if (/^\d{6}$/.test(digits)) return authenticator.check(digits)
    if (!recoveryCodes.isUnused(text)) return null
    return { kind: 'recovery code', use: () => recoveryCodes.use(text) }
  }

  /**
   * Checks the first code of the app that the session sets up. The returned function turns the second factor on and
   * returns the recovery codes; it runs inside a unit of work.
   *
   * @throws Refusal 400 `wrong_code`, 409 `second_factor_on`, 409 `setup_expired`; the function also 409 `key_unreadable`.
   */
  async function checkSetup(session: Session, code: string): Promise<() => string[]> {
    const turnOn = await setup.check(session, digitsOf(code))
    return () => {
      turnOn()
      return recoveryCodes.replace()
    }
  }

  /** Removes the app and the recovery codes. Inside a unit of work. */
  function removeAll(): void {
    authenticator.remove()
    recoveryCodes.removeAll()
  }

  /** As `removeAll`. @throws Refusal 404 `second_factor_off`. */
  function turnOff(): void {
    requireOn()
    removeAll()
  }

  /** Replaces the recovery codes. Inside a unit of work. @throws Refusal 404 `second_factor_off`. */
  function renewRecoveryCodes(): string[] {
    requireOn()
    return recoveryCodes.replace()
  }

  /** When the app was set up, null without one; and how many recovery codes are unused. */
  const status = () => ({ since: authenticator.since(), recovery_codes_left: recoveryCodes.left() })
  return { isOn, status, check, begin: setup.begin, checkSetup, turnOff, removeAll, renewRecoveryCodes }
}

/** Apps show codes in two groups. */
const digitsOf = (code: string): string => code.replace(/\s/g, '')
