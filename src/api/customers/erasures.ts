/** What may be asked: that somebody be forgotten, by the owner's backend; and that it happened, by whoever reads. */
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
import { READ_ROUTE } from '../route_defaults.ts'

const ForgetPath = v.object({ app_user_id: AppUserId })
const ForgetQuery = v.object({
  app: v.pipe(
    v.string(),
    v.nonEmpty('must not be empty'),
    v.description('The id of the app, or for a key its bundle id; one that was disconnected counts, too'),
  ),
  unknown: v.optional(
    v.pipe(
      v.picklist(['refuse', 'accept']),
      v.description('Where nothing is known of the user: refuse, or accept and let nothing be known later'),
    ),
    'refuse',
  ),
})
const ErasuresQuery = v.object({
  limit: v.optional(v.pipe(whole(1, 500), v.description('How many at most, 1 to 500')), '100'),
  before: v.optional(v.pipe(v.string(), v.description('The id of the last one of the page before'))),
})
const ErasureAnswer = v.object({
  id: v.string(),
  app_id: v.string(),
  bundle_id: v.string(),
  asked_by: v.pipe(v.string(), v.description('The id of the secret key, `owner` or `command line`')),
  asked_at: v.number(),
  links: v.pipe(v.number(), v.description('How many links named the user')),
  scrubbed: v.pipe(v.number(), v.description('How many events were rewritten')),
  finished_at: v.pipe(v.nullable(v.number()), v.description('null while it goes on')),
})
const ErasuresAnswer = v.object({ erasures: v.array(ErasureAnswer) })

type Deps = { store: Store; keys: Keys; apps: Apps; auth: Auth; audit: Audit; erasures: Erasures }
/** Who may erase a user: the name for the record, and which apps are theirs. */
type Requester = { id: string; appOf: (name: string) => App; note: (erasure_id: string) => void }

export function erasureRoutes(deps: Deps): Route[] {
  const { store, auth, erasures } = deps

  return [
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/users/:app_user_id',
      tag: 'Erasure',
      summary: 'Forget a user of one app for good; asked again, it says how far it is',
      description:
        'What they are and did goes, who bought what stays as nobody’s, and no call for them is accepted afterwards. ' +
        'The user id is one segment of the path, percent-encoded. It does not appear in the log.',
      access: eraserAccess(deps),
      params: ForgetPath,
      query: ForgetQuery,
      private_path: true,
      answers: {
        200: { description: 'It is done', schema: ErasureAnswer },
        202: {
          description: 'It is on disk; calls are refused, and the rest is under way',
          schema: ErasureAnswer,
        },
      },
      refusals: { 403: 'app_not_in_organization', 404: 'unknown_user, unknown_app' },
      async handler({ event, caller, params: { app_user_id }, query: { app, unknown } }) {
        const { id: app_id } = caller.appOf(app)
        const request = { app_id, app_user_id, asked_by: caller.id, even_unknown: unknown === 'accept' }
        const erasure = await store.commit(() => {
          const begun = erasures.erase(request)
          caller.note(begun.id)
          return begun
        })
        event.res.status = erasure.finished_at === null ? 202 : 200
        return erasure
      },
    }),
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/erasures',
      tag: 'Erasure',
      summary: 'That users were forgotten and when, newest first; not who',
      access: auth.reader,
      query: ErasuresQuery,
      answers: { 200: { description: 'A page of them', schema: ErasuresAnswer } },
      handler({ caller: { organization_id, apps }, query: { limit, before = null } }) {
        return { erasures: erasures.list({ organization_id, apps, limit, before }) }
      },
    }),
  ]
}

/** The bearer of a secret key, or the owner who entered the password lately. */
function eraserAccess({ keys, apps, auth, audit }: Deps): Access<Requester> {
  const noteBy = (event: H3Event, actor: string) => (subject: string) =>
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
        return { id: key.id, appOf: (name) => appOf(apps, key, name), note: noteBy(event, key.id) }
      }
      auth.freshOwner.admit(event)
      return { id: 'owner', appOf: (name) => appById(apps, name), note: noteBy(event, 'owner') }
    },
  }
}

/** @throws Refusal 401 without a key, 403 for one that may stand in an app, which everybody can read. */
function secretKeyOf(keys: Keys, authorization: string | null): Key {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  if (!token) {
    const detail = 'send the secret key of the organization: Authorization: Bearer sk_live_…'
    throw new Refusal(401, 'credential_required', detail, { headers: { 'www-authenticate': 'Bearer' } })
  }
  const key = keys.findByToken(token)
  if (!key) throw new Refusal(401, 'invalid_key', 'this is no secret key, or it is revoked or past its time')
  if (key.kind === 'secret') return key
  throw new Refusal(403, 'secret_key_required', 'a publishable key cannot do this; send the secret one')
}

function appOf(apps: Apps, key: Key, name: string): App {
  const app = apps.ofOrganization(key.organization_id, name)
  if (app) return app
  throw new Refusal(403, 'app_not_in_organization', `there is no app ${name} in the organization of this key`)
}

/** An app of any organization, by its id: a bundle id may be in several. */
function appById(apps: Apps, id: string): App {
  const app = apps.get(id)
  if (app) return app
  throw new Refusal(404, 'unknown_app', `there is no app with the id ${id}`)
}
