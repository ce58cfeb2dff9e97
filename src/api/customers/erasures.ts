/** Erases users, for a secret key or the owner, and lists erasures for every reader. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Key, Keys } from '../../apps/keys.ts'
import type { Erasures } from '../../attribution/erasure/erasure.ts'
import { AppUserId } from '../../attribution/requests.ts'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../../http/addresses.ts'
import { header } from '../../http/body/body.ts'
import { type Access, defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { defineList } from '../lists.ts'
import { READ_ROUTE } from '../route_defaults.ts'

const ForgetPath = v.object({ app_user_id: AppUserId })
const ForgetQuery = v.object({
  app: v.pipe(
    v.string(),
    v.nonEmpty('must not be empty'),
    v.description('The app id, or with a secret key the bundle id; disconnected apps work, too'),
  ),
  unknown: v.optional(
    v.pipe(
      v.picklist(['refuse', 'accept']),
      v.description(
        'What to do if the user is unknown: refuse the request, or accept it and refuse later calls for this id',
      ),
    ),
    'refuse',
  ),
})
const ErasuresQuery = v.object({
  limit: v.optional(v.pipe(whole(1, 500), v.description('Page size, 1 to 500')), '100'),
  before: v.optional(v.pipe(v.string(), v.description('`next` of the previous page'))),
})
export const ErasureAnswer = v.object({
  id: v.string(),
  app_id: v.string(),
  bundle_id: v.string(),
  asked_by: v.pipe(v.string(), v.description('The id of the secret key, `owner` or `command line`')),
  asked_at: v.number(),
  links: v.pipe(v.number(), v.description('How many links to the user were removed')),
  scrubbed: v.pipe(v.number(), v.description('How many events the user’s ids were removed from')),
  finished_at: v.pipe(v.nullable(v.number()), v.description('null until `state` is `done`')),
  state: v.pipe(
    v.picklist(['running', 'pending_in_log', 'done']),
    v.description(
      '`pending_in_log`: no row names the user any more, but another program, such as Litestream, keeps old pages of the write-ahead log in use; Windfall retries until they are gone',
    ),
  ),
})
const ErasuresAnswer = v.object({
  erasures: v.array(ErasureAnswer),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('The value of `before` for the next page; null on the last page'),
  ),
})

type Deps = { store: Store; keys: Keys; apps: Apps; auth: Auth; audit: Audit; erasures: Erasures }
/**
 * The authenticated caller of an erasure. `id` is stored as `asked_by`. `appOf` finds an app whose users the caller may
 * erase. `note` adds the erasure to the audit log.
 */
type Requester = { id: string; appOf: (name: string) => App; note: (erasure_id: string) => void }

export function erasureRoutes(deps: Deps): Route[] {
  const { store, auth, erasures } = deps

  return [
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/users/:app_user_id',
      tag: 'Erasure',
      summary: 'Erases a user of one app permanently; repeat the request to see the progress',
      description:
        'Removes the user’s row, attributes and links, and their id in events. Purchases stay without a user. Later calls for the id are refused. ' +
        'The user id is one percent-encoded path segment. The server log does not contain the user id.',
      access: eraserAccess(deps),
      params: ForgetPath,
      query: ForgetQuery,
      private_path: true,
      answers: {
        200: { description: 'The erasure is finished', schema: ErasureAnswer },
        202: {
          description:
            'The erasure is stored and calls are refused; the rest is running, or pending in the log',
          schema: ErasureAnswer,
        },
      },
      refusals: { 403: 'app_not_in_organization', 404: 'unknown_user, unknown_app' },
      async handler({ event, caller, params: { app_user_id }, query: { app, unknown } }) {
        const { id: app_id } = caller.appOf(app)
        const request = { app_id, app_user_id, asked_by: caller.id, even_unknown: unknown === 'accept' }
        const erasure = await store.commit(() => {
          const started = erasures.erase(request)
          caller.note(started.id)
          return started
        })
        event.res.status = erasure.finished_at === null ? 202 : 200
        return erasure
      },
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/erasures',
      tag: 'Erasure',
      summary: 'Lists erasures, newest first, without the users',
      access: auth.reader,
      query: ErasuresQuery,
      answer: { description: 'A page of erasures', schema: ErasuresAnswer },
      read({ caller: { organization_id, apps }, query: { limit, before = null } }) {
        const page = erasures.list({ organization_id, apps, limit, before })
        return { erasures: page, next: page.length < limit ? null : (page.at(-1)?.id ?? null) }
      },
    }),
  ]
}

/** Admits the bearer of a secret key, or the owner after a recent password entry. */
function eraserAccess({ keys, apps, auth, audit }: Deps): Access<Requester> {
  const auditNoteBy = (event: H3Event, actor: string) => (subject: string) =>
    audit.note({ actor, address: clientAddress(event), action: 'user.forgotten', subject })

  return {
    security: ['secret_key', 'session'],
    refusals: {
      401: 'credential_required, invalid_key, sign_in_required',
      403: 'secret_key_required, not_for_guests, cross_site, reauthentication_required',
    },
    admit(event) {
      const authorization = header(event, 'authorization')
      if (authorization !== undefined || auth.cookieCaller(event) === null) {
        const key = secretKeyOf(keys, authorization ?? null)
        return { id: key.id, appOf: (name) => appOf(apps, key, name), note: auditNoteBy(event, key.id) }
      }
      auth.freshOwner.admit(event)
      return { id: 'owner', appOf: (name) => appById(apps, name), note: auditNoteBy(event, 'owner') }
    },
  }
}

/**
 * The secret key in an `Authorization` header.
 *
 * @throws Refusal 401 without a key; 403 for a publishable key, which ships in apps and proves nothing.
 */
export function secretKeyOf(keys: Keys, authorization: string | null): Key {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  if (!token) {
    const detail = 'send the secret key of the organization: Authorization: Bearer sk_live_…'
    throw new Refusal(401, 'credential_required', detail, { headers: { 'www-authenticate': 'Bearer' } })
  }
  const key = keys.findByToken(token)
  if (!key) throw new Refusal(401, 'invalid_key', 'the key is not a secret key, or is revoked or expired')
  if (key.kind === 'secret') return key
  throw new Refusal(403, 'secret_key_required', 'a publishable key cannot do this; send a secret key')
}

function appOf(apps: Apps, key: Key, name: string): App {
  const app = apps.ofOrganization(key.organization_id, name)
  if (app) return app
  throw new Refusal(403, 'app_not_in_organization', `the organization of this key has no app ${name}`)
}

/** Finds an app by app id. A bundle id would be ambiguous, because several organizations may have it. */
function appById(apps: Apps, id: string): App {
  const app = apps.get(id)
  if (app) return app
  throw new Refusal(404, 'unknown_app', `no app has the id ${id}`)
}
