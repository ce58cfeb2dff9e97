/** What may be asked: who am I, let me in, let me out. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import { FEWEST_CHARACTERS, MOST_BYTES } from '../../access/common_passwords.ts'
import type { Owner } from '../../access/owner.ts'
import type { Doorway } from '../../access/session_cookie.ts'
import { openStanding, SessionAnswer } from '../../access/session_status.ts'
import type { Sessions } from '../../access/sessions.ts'
import type { SignIn } from '../../access/sign_in.ts'
import { readJson } from '../../http/body/body.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'

/** A body of a sign-in: a password of 512 bytes, escaped as JSON may escape it, a token, and their names. */
export const BODY_BYTES = 8_192

/** Whatever somebody types; bounded before it is hashed. */
export const Password = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.maxBytes(MOST_BYTES, `must have at most ${MOST_BYTES} bytes`),
)
const Token = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(200, 'is no token of ours'))
const NEW_PASSWORD = `At least ${FEWEST_CHARACTERS} characters of any kind, and none that is common`
const Setup = v.object({
  token: v.pipe(Token, v.description('What stands after the # of the link that was printed')),
  password: v.pipe(Password, v.description(NEW_PASSWORD)),
})
const Login = v.union(
  [
    v.strictObject({ password: Password }),
    v.strictObject({
      token: v.pipe(Token, v.description('Of a link that lets in once without the password, as of the demo')),
    }),
  ],
  'must be {password} or {token}',
)
const Confirmation = v.object({ password: Password })
const PasswordChange = v.object({
  current_password: v.pipe(
    Password,
    v.description('The current password, required even after a recent sign-in'),
  ),
  password: v.pipe(Password, v.description(NEW_PASSWORD)),
})

type Deps = {
  store: Store
  owner: Owner
  sessions: Sessions
  signIn: SignIn
  doorway: Doorway
  readers: Readers
  audit: Audit
}

export function entryRoutes(deps: Deps): Route[] {
  const { store, sessions, signIn, doorway, readers, audit } = deps
  const standing = openStanding(deps)

  const asOwner = (event: H3Event, session: Parameters<Sessions['overAt']>[0]) =>
    standing(event, { kind: 'owner', reach: { organization_id: null, apps: null }, session })

  /** What is asked for on our own pages, over a line that nobody reads along. */
  async function bodyOf<Schema extends v.GenericSchema>(event: H3Event, schema: Schema) {
    doorway.demandSameSite(event)
    doorway.demandOpen(event)
    return parse(schema, await readJson(event, BODY_BYTES, 'reserved'))
  }

  async function setup(event: H3Event) {
    const { token, password } = await bodyOf(event, Setup)
    return asOwner(event, await signIn.setUp(event, token, password))
  }

  async function login(event: H3Event) {
    const given = await bodyOf(event, Login)
    const session =
      'token' in given
        ? await signIn.enterByLink(event, given.token)
        : await signIn.enterByPassword(event, given.password)
    return asOwner(event, session)
  }

  /** Whoever is signed in, owner or guest, is no more; nobody is refused for not being. */
  async function logout(event: H3Event) {
    doorway.demandSameSite(event)
    const caller = readers.signedIn(event)
    if (caller) {
      const who = readers.whoOf(event)
      await store.commit(() => {
        sessions.end(caller.session.id)
        if (caller.kind === 'owner') audit.note({ ...who, action: 'owner.signed_out' })
      })
    }
    doorway.give(event, null, 0)
    return standing(event, null)
  }

  async function reauth(event: H3Event) {
    readers.owner(event)
    const { password } = await bodyOf(event, Confirmation)
    return asOwner(event, await signIn.confirm(event, readers.owner(event), password))
  }

  async function password(event: H3Event) {
    readers.owner(event)
    const change = await bodyOf(event, PasswordChange)
    return asOwner(event, await signIn.changePassword(event, readers.owner(event), change))
  }

  return routesFor({ session: (event) => standing(event), setup, login, logout, reauth, password })
}

type Handlers = Record<'session' | 'setup' | 'login' | 'logout' | 'reauth' | 'password', Route['handler']>

const ENTRY = { method: 'POST', tag: 'Owner', security: ['none'] } as const
const OWNERS = { ...ENTRY, security: ['session'] } as const
const STANDING = { 200: { description: 'Who is signed in now, with the cookie', schema: SessionAnswer } }
const REFUSALS = {
  400: { description: 'invalid_request, invalid_json' },
  401: { description: 'wrong_password, invalid_link' },
  403: { description: 'insecure_transport, cross_site' },
  429: { description: 'rate_limited' },
  503: { description: 'busy, store_unavailable' },
}

function routesFor(handlers: Handlers): Route[] {
  return [
    {
      ...ENTRY,
      method: 'GET',
      path: '/api/v1/session',
      summary: 'Who is signed in, and for what; never refused',
      answers: STANDING,
      handler: handlers.session,
    },
    {
      ...ENTRY,
      path: '/api/v1/setup',
      summary: 'Chooses the owner’s password by the link that was printed, and signs in',
      body: Setup,
      answers: { ...STANDING, ...REFUSALS, 400: { description: 'invalid_request, weak_password' } },
      handler: handlers.setup,
    },
    {
      ...ENTRY,
      path: '/api/v1/login',
      summary: 'Signs the owner in',
      body: Login,
      answers: { ...STANDING, ...REFUSALS },
      handler: handlers.login,
    },
    {
      ...ENTRY,
      path: '/api/v1/logout',
      summary: 'Ends the session, the owner’s or a guest’s',
      answers: { ...STANDING, 403: { description: 'cross_site' } },
      handler: handlers.logout,
    },
    {
      ...OWNERS,
      path: '/api/v1/reauth',
      summary: 'The password once more: what is secret may be shown and changed for fifteen minutes',
      body: Confirmation,
      answers: { ...STANDING, ...REFUSALS, 401: { description: 'sign_in_required, wrong_password' } },
      handler: handlers.reauth,
    },
    {
      ...OWNERS,
      path: '/api/v1/password',
      summary: 'Changes the password; requires the current one, and ends the owner’s other sessions',
      body: PasswordChange,
      answers: {
        ...STANDING,
        ...REFUSALS,
        400: { description: 'invalid_request, weak_password' },
        401: { description: 'sign_in_required, wrong_password' },
      },
      handler: handlers.password,
    },
  ]
}
