/** Opens authentication, sessions, share links and the audit log, and connects them. */
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import { openAudit } from './audit.ts'
import { openAuth } from './auth.ts'
import { openOwner } from './owner.ts'
import type { Revocations } from './revocations.ts'
import { openSessionCookie } from './session_cookie.ts'
import { openSessions, type SessionSettings } from './sessions.ts'
import { openShareLinks } from './share_links.ts'
import { openSignIn } from './sign_in.ts'
import { openThrottle } from './throttle.ts'
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
  base_url: () => string | undefined
}

/** Opens everything that decides who may read and write. */
export function openAccessControl(deps: Deps) {
  const { store, clock, monotonic, wait, log, tokens, revocations, settings, base_url } = deps
  const audit = openAudit(store, clock)
  const owner = openOwner(store, clock)
  const sessions = openSessions({ store, clock, settings, revocations })
  const links = openShareLinks(store, clock, sessions)
  const sessionCookie = openSessionCookie({ base_url, settings })
  const throttle = openThrottle({ clock: monotonic, wait })
  const auth = openAuth({ store, tokens, sessions, links, sessionCookie, audit, clock })
  const signIn = openSignIn({ store, clock, log, owner, sessions, audit, throttle, sessionCookie })
  return { audit, owner, sessions, links, sessionCookie, signIn, auth }
}
