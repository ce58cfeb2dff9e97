/** `/api/v1/passkeys`: added and removed by the owner. `POST /api/v1/login` signs in with one. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Passkeys } from '../../access/passkeys/passkeys.ts'
import type { CreatedPasskey } from '../../access/passkeys/verification.ts'
import type { SessionCookie } from '../../access/session_cookie.ts'
import type { Sessions } from '../../access/sessions.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { CreationOptionsAnswer, NewPasskey, RequestOptionsAnswer } from './passkey_bodies.ts'

const PasskeyAnswer = v.object({
  id: v.string(),
  name: v.string(),
  host: v.pipe(v.string(), v.description('The host of base_url when it was added; it works there only')),
  is_synced: v.pipe(v.boolean(), v.description('Other devices of its user have it, too')),
  created_at: v.number(),
  used_at: v.pipe(v.nullable(v.number()), v.description('When it last signed in')),
})
export const PasskeysAnswer = v.object({
  passkeys: v.array(PasskeyAnswer),
  host: v.pipe(v.string(), v.description('The host of base_url')),
  problem: v.pipe(v.nullable(v.string()), v.description('Why passkeys do not work there; null if they do')),
})
const AddBody = v.strictObject({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(60)),
  passkey: v.pipe(
    NewPasskey,
    v.description('What the browser answers: RegistrationResponseJSON of WebAuthn'),
  ),
})

type Deps = { passkeys: Passkeys; sessions: Sessions; sessionCookie: SessionCookie; auth: Auth; audit: Audit }

export const passkeyRoutes = (deps: Deps): Route[] => [...beginRoutes(deps), ...changeRoutes(deps)]

const beginRoutes = ({ passkeys, sessionCookie, auth }: Deps): Route[] => [
  ...defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/passkeys',
    summary: 'Lists the owner’s passkeys, and says whether browsers permit them at base_url',
    access: auth.owner,
    answer: { description: 'Oldest first', schema: PasskeysAnswer },
    read(): v.InferOutput<typeof PasskeysAnswer> {
      const { host, problem } = passkeys.party()
      return { passkeys: passkeys.list(), host, problem }
    },
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/passkeys/setup',
    summary: 'Returns the options with which a browser creates a passkey',
    access: auth.freshOwner,
    answers: { 200: { description: 'Valid for five minutes, once', schema: CreationOptionsAnswer } },
    refusals: { 409: 'passkeys_unavailable, too_many_passkeys' },
    handler: ({ caller }) => passkeys.begin(caller),
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/passkeys/challenge',
    summary: 'Returns the options with which a browser uses a passkey, for a sign-in; needs no sign-in',
    access: sessionCookie.visitor,
    answers: { 200: { description: 'Valid for five minutes, once', schema: RequestOptionsAnswer } },
    refusals: { 409: 'passkeys_unavailable' },
    handler: () => passkeys.beginSignIn(),
  }),
]

/** The routes that change how the owner signs in. Each ends the owner's other sessions. */
const changeRoutes = ({ passkeys, sessions, auth, audit }: Deps): Route[] => [
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/passkeys',
    summary: 'Adds a passkey that a browser created, and ends the owner’s other sessions',
    access: auth.freshOwner,
    body: AddBody,
    answers: { 201: { description: 'The passkey', schema: PasskeyAnswer } },
    refusals: { 400: 'invalid_passkey', 409: 'passkeys_unavailable, too_many_passkeys' },
    async handler({ event, body: { name, passkey } }) {
      const session = auth.freshOwner.admit(event)
      const add = await passkeys.checkNew(session, passkey as CreatedPasskey, name)
      const added = await auth.commitAs(event, auth.freshOwner, (actor) => {
        const made = add()
        sessions.endOwners(session.id)
        audit.note({ ...actor, action: 'passkey.added', subject: made.id, detail: name })
        return made
      })
      event.res.status = 201
      return added
    },
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'DELETE',
    path: '/api/v1/passkeys/:id',
    summary: 'Removes a passkey, and ends the owner’s other sessions',
    access: auth.freshOwner,
    answers: { 204: { description: 'The passkey no longer signs in' } },
    refusals: { 404: 'unknown_passkey' },
    handler: ({ event, caller, params: { id } }) =>
      auth.commitAs(event, auth.freshOwner, (actor) => {
        passkeys.remove(id)
        sessions.endOwners(caller.id)
        audit.note({ ...actor, action: 'passkey.removed', subject: id })
      }),
  }),
]
