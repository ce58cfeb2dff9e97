/** Authentication and authorization for /api/v1. */
import type { H3Event } from 'h3'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { clientAddress } from '../http/addresses.ts'
import { header } from '../http/body/body.ts'
import type { Access } from '../http/route.ts'
import type { Basis } from '../money.ts'
import type { Store } from '../store/store.ts'
import type { Audit, AuditActor } from './audit.ts'
import type { MetricLimit } from './metric_limit.ts'
import { openQueryLimiter } from './query_limits.ts'
import type { SessionCookie } from './session_cookie.ts'
import type { Session, Sessions } from './sessions.ts'
import type { ShareLink, ShareLinks } from './share_links.ts'
import type { AccessScope, ApiTokens } from './tokens.ts'

/** How long secrets can be shown and changed after the password was entered. */
export const FRESH_MS = 15 * 60_000
/** Within this time, repeated exports of one table by one caller get a single audit entry. */
const EXPORT_AUDIT_INTERVAL_MS = 3_600_000
const MAX_TRACKED_EXPORTS = 1_000

/** The authenticated caller: the bearer of a read token, the owner, or a guest with a share link. */
export type Caller =
  | { kind: 'token'; accessScope: AccessScope; id: string; expires_at: number | null; can_annotate: boolean }
  | { kind: 'owner'; accessScope: AccessScope; session: Session }
  | { kind: 'guest'; accessScope: AccessScope; session: Session; link: ShareLink }

/**
 * What the caller may read. `basis` is the only basis that money is shown in; null for both. Figures are read only
 * within `metrics`.
 */
export type ViewerAccess = {
  accessScope: AccessScope
  basis: Basis | null
  metrics: MetricLimit
  isGuest: boolean
}

const FULL_ACCESS: AccessScope = { organization_id: null, apps: null }

export type Auth = ReturnType<typeof openAuth>

type Deps = {
  store: Store
  tokens: ApiTokens
  sessions: Sessions
  links: ShareLinks
  sessionCookie: SessionCookie
  audit: Audit
  clock: Clock
}

/** Opens the access rules of the routes. */
export function openAuth({ store, tokens, sessions, links, sessionCookie, audit, clock }: Deps) {
  const auditedAtByExport = new Map<string, number>()

  /** The owner or guest of the session cookie; null without a valid session. */
  function cookieCaller(event: H3Event): Exclude<Caller, { kind: 'token' }> | null {
    const token = sessionCookie.tokenOf(event)
    const session = token === null ? null : sessions.find(token)
    if (session === null) return null
    if (session.link_id === null) return { kind: 'owner', accessScope: FULL_ACCESS, session }
    const link = links.get(session.link_id)
    return (
      link && {
        kind: 'guest',
        accessScope: { organization_id: link.organization_id, apps: link.apps },
        session,
        link,
      }
    )
  }

  /** Ignores the cookie if the request has a token, so that a page cannot combine a token with the owner's session. */
  function callerOf(event: H3Event): Caller {
    const authorization = header(event, 'authorization')
    const caller = authorization === undefined ? cookieCaller(event) : null
    if (caller) return caller
    if (authorization === undefined && sessionCookie.tokenOf(event) !== null) throw signInRequired()
    const { id, expires_at, can_annotate, ...accessScope } = tokens.holderOf(authorization ?? null)
    return { kind: 'token', id, expires_at, can_annotate, accessScope }
  }

  function authenticate(event: H3Event): Caller {
    const caller = callerOf(event)
    if (caller.kind !== 'token') sessions.touch(caller.session)
    return caller
  }

  /**
   * The access scope of a read token or of the owner.
   *
   * @throws Refusal 401 `token_required`, `invalid_token` or `sign_in_required`; 403 `not_for_guests`.
   */
  function requireReader(event: H3Event): AccessScope {
    const caller = authenticate(event)
    if (caller.kind === 'guest') throw guestForbidden()
    return caller.accessScope
  }

  const reader: Access<AccessScope> = {
    security: ['read_token', 'session'],
    refusals: { 401: UNKNOWN_READER, 403: 'not_for_guests' },
    admit: requireReader,
  }

  /** As `requireReader`, but also admits guests, with the access scope and the basis of their share link. */
  const requireViewer = (event: H3Event): ViewerAccess => viewerAccessOf(authenticate(event))

  const viewer: Access<ViewerAccess> = {
    security: ['read_token', 'session', 'guest'],
    refusals: { 401: UNKNOWN_READER },
    admit: requireViewer,
  }

  /** Limits expensive queries: two at a time for each share link and token; no limit for the owner. */
  const limited = openQueryLimiter((event) => {
    const caller = callerOf(event)
    // By link, not by session: a guest can open a link any number of times.
    if (caller.kind === 'owner') return null
    return caller.kind === 'guest' ? { id: caller.link.id, canWait: true } : { id: caller.id, canWait: false }
  })

  /**
   * The owner's session, for a request from the same site.
   *
   * @throws Refusal 401 `sign_in_required`; 403 `not_for_guests` or `cross_site`.
   */
  function ownerOf(event: H3Event): Session {
    sessionCookie.requireSameSite(event)
    const caller = header(event, 'authorization') === undefined ? cookieCaller(event) : null
    if (caller === null) throw signInRequired()
    if (caller.kind === 'guest') throw guestForbidden()
    sessions.touch(caller.session)
    return caller.session
  }

  const owner: Access<Session> = {
    security: ['session'],
    refusals: { 401: 'sign_in_required', 403: 'not_for_guests, cross_site' },
    admit: ownerOf,
  }

  /** Whether the password was entered recently. A `confirmed_at` in the future was set while the clock was wrong. */
  const isFresh = ({ confirmed_at }: Session): boolean =>
    confirmed_at <= clock() && clock() - confirmed_at < FRESH_MS

  /**
   * The owner's session, if the password was entered within the last fifteen minutes.
   *
   * @throws Refusal as `owner`; 403 `reauthentication_required`.
   */
  function freshOwnerOf(event: H3Event): Session {
    const session = ownerOf(event)
    if (isFresh(session)) return session
    throw new Refusal(403, 'reauthentication_required', 'confirm the password again: POST /api/v1/reauth')
  }

  const freshOwner: Access<Session> = {
    security: ['session'],
    refusals: { 401: 'sign_in_required', 403: 'reauthentication_required, not_for_guests, cross_site' },
    admit: freshOwnerOf,
  }

  /**
   * Commits `work` as the owner. Checks `access` again in the same unit of work: a request body can arrive slowly, and
   * the session may have ended since the first check.
   *
   * @throws Refusal as `access` and `work`. Then nothing is stored.
   */
  function commitAs<Done>(
    event: H3Event,
    access: Access<Session>,
    work: (actor: AuditActor) => Done,
  ): Promise<Done> {
    return store.commit(() => {
      access.admit(event)
      return work({ actor: OWNER, address: clientAddress(event) })
    })
  }

  /** When the caller's access to a stream ends, in ms since the epoch: infinity without an end, 0 without access. */
  function accessValidUntil(event: H3Event): number {
    try {
      const caller = callerOf(event)
      if (caller.kind === 'token') return caller.expires_at ?? Number.POSITIVE_INFINITY
      return caller.kind === 'owner' ? sessions.expiresAt(caller.session) : 0
    } catch {
      return 0
    }
  }

  /** The caller as an actor of the audit log. */
  function auditActorOf(event: H3Event): AuditActor {
    return { actor: actorOf(callerOf(event)), address: clientAddress(event) }
  }

  /**
   * Logs an export of `table`, at the path `subject`, by a token or a guest. The log is permanent, so both are the name
   * of a route and never text from the request. The owner's own exports are not logged.
   */
  function noteExport(event: H3Event, table: string, subject = `/api/v1/${table}.csv`): void {
    const actor = actorOf(callerOf(event))
    if (actor === OWNER) return
    const key = `${actor} ${subject}`
    const now = clock()
    if (now - (auditedAtByExport.get(key) ?? Number.NEGATIVE_INFINITY) < EXPORT_AUDIT_INTERVAL_MS) return
    if (auditedAtByExport.size >= MAX_TRACKED_EXPORTS) auditedAtByExport.clear()
    auditedAtByExport.set(key, now)
    audit.noteInBackground({ actor, address: clientAddress(event), action: 'export', subject })
  }

  return {
    cookieCaller,
    reader,
    annotator: annotatorOf(callerOf, ownerOf),
    viewer,
    limited,
    owner,
    isFresh,
    freshOwner,
    commitAs,
    accessValidUntil,
    auditActorOf,
    noteExport,
  }
}

/** The owner, for a request from the same site, or a token that may write annotations. */
const annotatorOf = (
  callerOf: (event: H3Event) => Caller,
  ownerOf: (event: H3Event) => Session,
): Access<AccessScope> => ({
  security: ['read_token', 'session'],
  refusals: { 401: UNKNOWN_READER, 403: 'read_only_token, not_for_guests, cross_site' },
  admit(event) {
    const caller = callerOf(event)
    if (caller.kind !== 'token') ownerOf(event)
    else if (!caller.can_annotate) {
      const detail = 'this token only reads; create one that may write annotations'
      throw new Refusal(403, 'read_only_token', detail)
    }
    return caller.accessScope
  },
})

const OWNER = 'owner'
const UNKNOWN_READER = 'token_required, invalid_token, sign_in_required'

function viewerAccessOf(caller: Caller): ViewerAccess {
  const { accessScope } = caller
  if (caller.kind !== 'guest') return { accessScope, basis: null, metrics: null, isGuest: false }
  const { basis, metrics } = caller.link
  return { accessScope, basis, metrics, isGuest: true }
}

function actorOf(caller: Caller): string {
  if (caller.kind === 'owner') return OWNER
  return caller.kind === 'token' ? caller.id : caller.link.id
}

const signInRequired = (): Refusal =>
  new Refusal(401, 'sign_in_required', 'sign in as the owner; an earlier session may have expired')

const guestForbidden = (): Refusal =>
  new Refusal(
    403,
    'not_for_guests',
    'a share link only gives access to the overview, metrics and cohorts of its apps',
  )
