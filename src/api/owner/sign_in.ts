/** Sign-in, sign-out, the session and the password. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Owner } from '../../access/owner.ts'
import type { PasskeySignIn } from '../../access/passkeys/passkey_sign_in.ts'
import type { Passkeys } from '../../access/passkeys/passkeys.ts'
import { MAX_PASSWORD_BYTES, MIN_PASSWORD_CHARACTERS } from '../../access/password_limits.ts'
import type { SessionCookie } from '../../access/session_cookie.ts'
import { openSessionStatus, SessionAnswer } from '../../access/session_status.ts'
import type { Sessions } from '../../access/sessions.ts'
import type { SignIn } from '../../access/sign_in.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { readJson } from '../../http/body/body.ts'
import { type Access, defineRoute, PUBLIC, type Route } from '../../http/route.ts'
import type { Imports } from '../../ledger/reports/imports.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Store } from '../../store/store.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { openZoneChange, TimeZone } from './organizations.ts'
import { PasskeyUse } from './passkey_bodies.ts'

/** Maximum size of a sign-in body: a password of 512 bytes with JSON escapes, a token, and the field names. */
const BODY_BYTES = 8_192

/** A password as entered. Its length is limited before it is hashed. */
export const Password = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.maxBytes(MAX_PASSWORD_BYTES, `must have at most ${MAX_PASSWORD_BYTES} bytes`),
)
const Token = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(200, 'is not a valid token'))
const NEW_PASSWORD = `At least ${MIN_PASSWORD_CHARACTERS} characters of any kind, and not a common password`
const Setup = v.object({
  token: v.pipe(Token, v.description('The part of the printed link after #')),
  password: v.pipe(Password, v.description(NEW_PASSWORD)),
  time_zone: v.exactOptional(
    v.pipe(TimeZone, v.description('That of organizations for which nobody has chosen one')),
  ),
})
const Code = v.exactOptional(
  v.pipe(
    v.string(),
    v.nonEmpty('must not be empty'),
    v.maxLength(100, 'must have at most 100 characters'),
    v.description('If an authenticator app is set up: its current code, or a recovery code'),
  ),
)
const Login = v.union(
  [
    v.strictObject({ passkey: PasskeyUse }),
    v.strictObject({ password: Password, code: Code }),
    v.strictObject({
      token: v.pipe(
        Token,
        v.description('From a link that signs in once without the password, as in the demo'),
      ),
    }),
  ],
  'must be {password}, {password, code}, {passkey} or {token}',
)
const Confirmation = v.object({ password: Password, code: Code })
const PasswordChange = v.object({
  current_password: v.pipe(
    Password,
    v.description('The current password; required even after a recent sign-in'),
  ),
  password: v.pipe(Password, v.description(NEW_PASSWORD)),
  code: Code,
})

type Deps = {
  store: Store
  owner: Owner
  passkeys: Passkeys
  sessions: Sessions
  signIn: SignIn
  signInByPasskey: PasskeySignIn
  sessionCookie: SessionCookie
  auth: Auth
  audit: Audit
  imports: Pick<Imports, 'progress'>
  organizations: Organizations
  alerts: Pick<Alerts, 'lookAgain'>
  metrics: Pick<Metrics, 'resume'>
}

/** Reads a sign-in body from a reserved memory budget, so that a flood of other requests cannot lock the owner out. */
export const readSignIn = (event: H3Event): Promise<unknown> => readJson(event, BODY_BYTES, 'reserved')

const SIGN_IN_ROUTE = {
  ...OWNER_ROUTE,
  method: 'POST',
  read_body: readSignIn,
  answers: { 200: { description: 'The session, with the cookie', schema: SessionAnswer } },
} as const

export const signInRoutes = (deps: Deps): Route[] => [
  statusRoute(deps),
  ...entryRoutes(deps),
  ...confirmationRoutes(deps),
]

type Session = Parameters<Sessions['expiresAt']>[0]

function openOwnerStatus(deps: Deps) {
  const sessionStatus = openSessionStatus(deps)
  return (event: H3Event, session: Session) =>
    sessionStatus(event, { kind: 'owner', accessScope: { organization_id: null, apps: null }, session })
}

function statusRoute(deps: Deps): Route {
  const sessionStatus = openSessionStatus(deps)
  return defineRoute({
    ...SIGN_IN_ROUTE,
    method: 'GET',
    path: '/api/v1/session',
    summary: 'Returns the current session; needs no sign-in',
    access: PUBLIC,
    handler: ({ event }) => sessionStatus(event),
  })
}

/** Returns the function that gives a time zone to the organizations for which nobody has chosen one, in a unit of work. */
function openZoneChoice({ organizations, alerts }: Deps) {
  const changeZone = openZoneChange({ organizations, alerts })
  return (time_zone: string): void => {
    for (const one of organizations.list()) if (one.time_zone_source === 'none') changeZone(one, time_zone)
  }
}

function entryRoutes(deps: Deps): Route[] {
  const chooseZone = openZoneChoice(deps)
  const { store, sessions, signIn, signInByPasskey, sessionCookie, auth, audit, metrics } = deps
  const sessionStatus = openSessionStatus(deps)
  const ownerStatus = openOwnerStatus(deps)

  return [
    defineRoute({
      ...SIGN_IN_ROUTE,
      path: '/api/v1/setup',
      summary: 'Sets the owner’s password with the printed link, and signs in',
      access: sessionCookie.visitor,
      body: Setup,
      refusals: { 400: 'weak_password', 401: 'invalid_link', 429: 'rate_limited' },
      async handler({ event, body: { time_zone, ...entry } }) {
        const session = await signIn.setUp(event, entry, () => {
          if (time_zone !== undefined) chooseZone(time_zone)
        })
        if (time_zone !== undefined) await metrics.resume()
        return ownerStatus(event, session)
      },
    }),
    defineRoute({
      ...SIGN_IN_ROUTE,
      path: '/api/v1/login',
      summary: 'Signs the owner in',
      access: sessionCookie.visitor,
      body: Login,
      refusals: {
        401: 'wrong_password, code_required, wrong_code, wrong_passkey, invalid_link',
        409: 'key_unreadable, passkeys_unavailable',
        429: 'rate_limited',
      },
      async handler({ event, body }) {
        if ('passkey' in body) return ownerStatus(event, await signInByPasskey(event, body.passkey))
        if ('token' in body) return ownerStatus(event, await signIn.signInByLink(event, body.token))
        return ownerStatus(event, await signIn.signInByPassword(event, body.password, body.code))
      },
    }),
    defineRoute({
      ...SIGN_IN_ROUTE,
      path: '/api/v1/logout',
      summary: 'Ends the current session of the owner or guest',
      access: sessionCookie.ownPage,
      async handler({ event }) {
        const caller = auth.cookieCaller(event)
        if (caller) {
          const actor = auth.auditActorOf(event)
          await store.commit(() => {
            sessions.end(caller.session.id)
            if (caller.kind === 'owner') audit.note({ ...actor, action: 'owner.signed_out' })
          })
        }
        sessionCookie.setToken(event, null, 0)
        return sessionStatus(event, null)
      },
    }),
  ]
}

function confirmationRoutes(deps: Deps): Route[] {
  const { signIn, sessionCookie, auth } = deps
  const ownerStatus = openOwnerStatus(deps)
  const { security, refusals, admit } = auth.owner
  /** The owner, over a secure transport only. */
  const access: Access<Session> = {
    security,
    refusals: { ...refusals, 403: `${refusals[403]}, insecure_transport` },
    admit(event) {
      const session = admit(event)
      sessionCookie.visitor.admit(event)
      return session
    },
  }
  const passwordErrors = {
    401: 'wrong_password, code_required, wrong_code',
    409: 'key_unreadable',
    429: 'rate_limited',
  } as const

  return [
    defineRoute({
      ...SIGN_IN_ROUTE,
      path: '/api/v1/reauth',
      summary:
        'Confirms the password, and a code if an authenticator app is set up; allows showing and changing secrets for fifteen minutes',
      access,
      body: Confirmation,
      refusals: passwordErrors,
      // The session may have ended while the body was being received.
      handler: async ({ event, body }) => ownerStatus(event, await signIn.confirm(event, admit(event), body)),
    }),
    defineRoute({
      ...SIGN_IN_ROUTE,
      path: '/api/v1/password',
      summary:
        'Changes the password; requires the current one, and a code if an authenticator app is set up. Ends the owner’s other sessions',
      access,
      body: PasswordChange,
      refusals: { ...passwordErrors, 400: 'weak_password' },
      handler: async ({ event, body }) =>
        ownerStatus(event, await signIn.changePassword(event, admit(event), body)),
    }),
  ]
}
