/** The session status: who is signed in and with which access. Every route that changes a session returns it. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Store } from '../store/store.ts'
import { type Auth, FRESH_MS } from './auth.ts'
import type { Owner } from './owner.ts'
import type { Passkeys } from './passkeys/passkeys.ts'
import type { SessionCookie } from './session_cookie.ts'
import type { Sessions } from './sessions.ts'
import type { ShareLink } from './share_links.ts'

export const SessionAnswer = v.object({
  state: v.picklist(['setup', 'signed_out', 'owner', 'guest']),
  reach: v.pipe(
    v.nullable(v.object({ organization_id: v.nullable(v.string()), apps: v.nullable(v.array(v.string())) })),
    v.description('The access scope: null within it means all; null when signed out'),
  ),
  basis: v.pipe(
    v.nullable(v.picklist(['gross', 'proceeds'])),
    v.description('For a guest, the only basis that money is shown in'),
  ),
  metrics: v.pipe(
    v.nullable(v.array(v.string())),
    v.description('For a guest, the only metrics that the link shows; null for all'),
  ),
  fresh: v.pipe(v.boolean(), v.description('The password was entered within the last fifteen minutes')),
  fresh_until: v.pipe(v.nullable(v.number()), v.description('When `fresh` becomes false')),
  storage: v.pipe(
    v.picklist(['ok', 'full', 'failing', 'damaged', 'replaced']),
    v.description('Whether the database can be written, or why not'),
  ),
  insecure: v.pipe(v.boolean(), v.description('Plain HTTP from another machine, as configured')),
  expires_at: v.pipe(v.nullable(v.number()), v.description('When the session expires if it is not used')),
  passkeys: v.pipe(
    v.nullable(v.string()),
    v.description('The host at which a passkey can sign in; null without one'),
  ),
  importing: v.pipe(
    v.nullable(v.number()),
    v.description(
      'For a guest while the first import runs, which changes figures: how much of it is done, from 0 to 1; otherwise null',
    ),
  ),
})

type Deps = {
  store: Pick<Store, 'condition'>
  owner: Owner
  passkeys: Pick<Passkeys, 'signInHost'>
  sessions: Sessions
  sessionCookie: SessionCookie
  auth: Auth
  imports: { progress: () => { is_first: boolean; done: number; of: number } | null }
}

/** Opens the session status. */
export function openSessionStatus({ store, owner, passkeys, sessions, sessionCookie, auth, imports }: Deps) {
  /** The session status of the request. After a sign-in, pass the new session as `caller`. */
  function sessionStatus(
    event: H3Event,
    caller = auth.cookieCaller(event),
  ): v.InferOutput<typeof SessionAnswer> {
    const insecure = sessionCookie.isInsecure(event)
    const server = { storage: store.condition(), insecure, passkeys: passkeys.signInHost() }
    if (caller === null) {
      const state = owner.password() === null ? 'setup' : 'signed_out'
      return { ...SIGNED_OUT, ...server, state }
    }
    const { kind, accessScope, session } = caller
    const fresh = kind === 'owner' && auth.isFresh(session)
    const link = kind === 'guest' ? caller.link : null
    const expires_at = Math.min(sessions.expiresAt(session), link?.expires_at ?? Number.POSITIVE_INFINITY)
    const fresh_until = fresh ? session.confirmed_at + FRESH_MS : null
    const { organization_id } = accessScope
    const apps = accessScope.apps && [...accessScope.apps]
    return {
      state: kind,
      reach: { organization_id, apps },
      ...(link === null ? NO_LINK : linkFields(link)),
      fresh,
      fresh_until,
      expires_at,
      ...server,
    }
  }

  /** What a guest sees. */
  function linkFields({ basis, metrics }: ShareLink) {
    const progress = imports.progress()
    const importing = progress?.is_first && progress.of > 0 ? progress.done / progress.of : null
    return { basis, metrics: metrics && [...metrics], importing }
  }

  return sessionStatus
}

/** Without a link, nothing is restricted, and the status says whether an import runs. */
const NO_LINK = { basis: null, metrics: null, importing: null }

const SIGNED_OUT = { reach: null, ...NO_LINK, fresh: false, fresh_until: null, expires_at: null }
