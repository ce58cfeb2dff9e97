/** Sign-in with a passkey. It needs no code, because the authenticator verifies its user. */
import type { H3Event } from 'h3'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../../http/addresses.ts'
import type { Attempts } from '../attempts/attempts.ts'
import type { Audit } from '../audit.ts'
import type { Session } from '../sessions.ts'
import type { SignIn } from '../sign_in.ts'
import type { Passkeys, RightPasskey } from './passkeys.ts'
import type { UsedPasskey } from './verification.ts'

export type PasskeySignIn = ReturnType<typeof openPasskeySignIn>

type Deps = {
  passkeys: Pick<Passkeys, 'check'>
  attempts: Attempts
  audit: Audit
  signIn: Pick<SignIn, 'startSession'>
}

const WRONG = { account: 'owner', action: 'owner.sign_in_failed', why: 'wrong passkey' } as const
/** Long ago: showing and changing secrets asks for the password, which was not entered. */
const NEVER_CONFIRMED = 0

/** Opens the sign-in with a passkey. */
export function openPasskeySignIn({ passkeys, attempts, audit, signIn }: Deps) {
  /** @throws Refusal 401 `wrong_passkey`, 409 `passkeys_unavailable`, 429 `rate_limited`. */
  return async function signInByPasskey(event: H3Event, response: UsedPasskey): Promise<Session> {
    let found: RightPasskey | null = null
    await attempts.attempt(event, WRONG, async () => {
      found = await passkeys.check(response)
      return found !== null
    })
    const right = found as RightPasskey | null
    if (right === null) throw wrongPasskey()
    const useIt = (): void => {
      // The passkey may have been removed, or used by another request.
      if (!right.use()) throw wrongPasskey()
      const actor = { actor: 'owner', address: clientAddress(event) }
      audit.note({ ...actor, action: 'owner.signed_in', subject: right.id, detail: 'with a passkey' })
    }
    return signIn.startSession(event, null, useIt, NEVER_CONFIRMED)
  }
}

const wrongPasskey = (): Refusal =>
  new Refusal(401, 'wrong_passkey', 'the passkey was not accepted; try again, or use the password')
