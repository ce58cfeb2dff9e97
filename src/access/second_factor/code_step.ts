/** The second step of a sign-in by password: a code of the authenticator app, or a recovery code. */
import type { H3Event } from 'h3'
import { Refusal } from '../../errors.ts'
import type { Attempts } from '../attempts/attempts.ts'
import type { RightCode } from './authenticator.ts'
import type { SecondFactor } from './second_factor.ts'

const WRONG = { account: 'second factor', action: 'owner.sign_in_failed', why: 'wrong code' } as const

type Deps = { attempts: Attempts; secondFactor: Pick<SecondFactor, 'isOn' | 'check'> }

/** Opens the second step. */
export function openCodeStep({ attempts, secondFactor }: Deps) {
  /**
   * Checks the code after the password; null if none is needed. `useCode` completes the check.
   *
   * @throws Refusal 401 `code_required` or `wrong_code`, 429 `rate_limited`, 409 `key_unreadable`.
   */
  async function requireCode(event: H3Event, code: string | undefined): Promise<RightCode | null> {
    if (!secondFactor.isOn()) return null
    if (code === undefined) throw codeRequired()
    let right: RightCode | null = null
    await attempts.attempt(event, WRONG, async () => {
      right = await secondFactor.check(code)
      return right !== null
    })
    if (right === null) throw wrongCode()
    return right
  }

  /**
   * Uses what `requireCode` returned, in the unit of work that begins the session. Meanwhile the second factor may have
   * been turned on, and another request may have used the code.
   *
   * @throws Refusal 401 `code_required` or `wrong_code`.
   */
  function useCode(right: RightCode | null): void {
    if (right === null && secondFactor.isOn()) throw codeRequired()
    if (right !== null && !right.use()) throw wrongCode()
  }

  return { requireCode, useCode }
}

const codeRequired = (): Refusal =>
  new Refusal(401, 'code_required', 'enter a code of your authenticator app, or a recovery code')

const wrongCode = (): Refusal =>
  new Refusal(
    401,
    'wrong_code',
    'the code is wrong or was used; wait for the next one, or use a recovery code',
  )
