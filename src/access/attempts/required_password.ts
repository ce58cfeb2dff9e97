/** Requires the owner's password. */
import type { H3Event } from 'h3'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Owner } from '../owner.ts'
import { checkPassword, hashPassword } from '../passwords.ts'
import type { Attempts } from './attempts.ts'

const WRONG = { account: 'owner', action: 'owner.sign_in_failed', why: 'wrong password' } as const

type Deps = { store: Store; owner: Pick<Owner, 'password' | 'setPassword'>; attempts: Attempts }

/** Opens the check of the owner's password. */
export function openRequiredPassword({ store, owner, attempts }: Deps) {
  /**
   * Checks the password and returns its hash. The caller compares the hash later, to detect a change of the password.
   *
   * @throws Refusal 401 `wrong_password`, also if no password was set yet; 429 `rate_limited`; 503 `busy`.
   */
  return async function requirePassword(event: H3Event, password: string): Promise<string | null> {
    let storedHash: string | null = null
    const isAccepted = await attempts.attempt(event, WRONG, async (lane) => {
      storedHash = owner.password()
      if (storedHash === null) return false
      const { fits, stale } = await checkPassword(password, storedHash, lane)
      if (fits && stale) storedHash = await rehash(password, storedHash)
      return fits
    })
    if (!isAccepted) throw wrongPassword()
    return storedHash
  }

  async function rehash(password: string, old: string): Promise<string> {
    const phc = await hashPassword(password)
    return store.commit(() => {
      if (owner.password() !== old) return old
      owner.setPassword(phc)
      return phc
    })
  }
}

/** Refusal 401 `wrong_password`. */
export const wrongPassword = (): Refusal => new Refusal(401, 'wrong_password', 'incorrect password')
