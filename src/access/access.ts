/** Opens authentication, sessions, share links and the audit log, and connects them. */
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import { openAttempts } from './attempts/attempts.ts'
import { openKnownBrowsers } from './attempts/known_browsers.ts'
import { openThrottle } from './attempts/throttle.ts'
import { openAudit } from './audit.ts'
import { openAuth } from './auth.ts'
import { openCookies } from './cookies.ts'
import { openOwner } from './owner.ts'
import { openPasskeySignIn } from './passkeys/passkey_sign_in.ts'
import { openPasskeys } from './passkeys/passkeys.ts'
import type { Revocations } from './revocations.ts'
import type { Sealing } from './second_factor/authenticator.ts'
import { openSecondFactor } from './second_factor/second_factor.ts'
import { openSessionCookie } from './session_cookie.ts'
import { openSessions, type SessionSettings } from './sessions.ts'
import { openShareLinks } from './share_links.ts'
import { openSignIn } from './sign_in.ts'
import type { ApiTokens } from './tokens.ts'

type Deps = {
  store: Store
  clock: Clock
  /** A clock that never jumps. */
  monotonic: Clock
  wait: (ms: number) => Promise<void>
  log: Log
  tokens: ApiTokens
  revocations: Revocations
  /** One shared object: a reload changes it in place. */
  settings: SessionSettings & { insecure_http: boolean }
  /** Its secrets seal that of the authenticator app. */
  outgoing: { secrets: Sealing }
  base_url: () => string | undefined
}

/** Opens everything that decides who may read and write. */
export function openAccessControl(deps: Deps) {
  const { store, clock, monotonic, wait, log, tokens, revocations, settings, outgoing, base_url } = deps
  const audit = openAudit(store, clock)
  const secondFactor = openSecondFactor({ store, clock, monotonic, sealing: outgoing.secrets })
  const passkeys = openPasskeys({ store, clock, monotonic, base_url })
  const cookies = openCookies({ base_url, settings })
  const knownBrowsers = openKnownBrowsers({ store, clock, cookies })
  const owner = openOwner(store, clock, [secondFactor, passkeys, { removeAll: knownBrowsers.forgetAll }])
  const sessions = openSessions({ store, clock, settings, revocations })
  const links = openShareLinks(store, clock, sessions)
  const sessionCookie = openSessionCookie({ base_url, settings, cookies })
  const throttle = openThrottle({ clock: monotonic, wait })
  const attempts = openAttempts({ clock, log, audit, throttle, knownBrowsers })
  const auth = openAuth({ store, tokens, sessions, links, sessionCookie, audit, clock })
  const signIn = openSignIn({
    store,
    clock,
    owner,
    secondFactor,
    sessions,
    audit,
    attempts,
    sessionCookie,
    knownBrowsers,
  })
  const signInByPasskey = openPasskeySignIn({ passkeys, attempts, audit, signIn })
  const factors = { owner, secondFactor, passkeys }
  return { ...factors, audit, attempts, sessions, links, sessionCookie, signIn, signInByPasskey, auth }
}
