/** `/api/v1/users/{app_user_id}/access`: what a user has access to, for backends that ask. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { appsInScope, resolveApps } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Keys } from '../../apps/keys.ts'
import type { Erasures } from '../../attribution/erasure/erasure.ts'
import { AppUserId } from '../../attribution/requests.ts'
import { openUserAccess } from '../../attribution/user_access.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { header } from '../../http/body/body.ts'
import { invalid } from '../../http/parse.ts'
import { type Access, defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { READ_ROUTE } from '../route_defaults.ts'
import { secretKeyOf } from './erasures.ts'

const AccessPath = v.object({ app_user_id: AppUserId })
const AccessQuery = v.object({
  app: v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty('must not be empty'),
      v.description('A bundle id or app id; may be left out if the caller can read one app only'),
    ),
  ),
  environment: v.optional(v.picklist(['production', 'sandbox']), 'production'),
})

const accessUntil = (text: string) => v.pipe(v.nullable(v.number()), v.description(text))
const ProductAnswer = v.object({
  product_id: v.string(),
  has_access: v.boolean(),
  access_until: accessUntil('When access ends or ended: the expiry or the end of the grace period'),
  state: v.pipe(
    v.picklist(['trial', 'active', 'grace', 'retry', 'expired', 'revoked']),
    v.description('retry: Apple retries the charge, without access. A non-consumable is active or revoked'),
  ),
  environment: v.picklist(['production', 'sandbox']),
  original_transaction_id: v.string(),
  verification: v.pipe(
    v.picklist(['verified', 'unverified']),
    v.description('Whether Apple’s signature proved that the purchase belongs to the user'),
  ),
})
const AccessAnswer = v.object({
  has_access: v.pipe(v.boolean(), v.description('Whether any product gives access')),
  access_until: accessUntil(
    'The latest end; null if the user never bought, or has access without a known end',
  ),
  products: v.pipe(
    v.array(ProductAnswer),
    v.description('The subscriptions and non-consumables of the user, the last linked first'),
  ),
})

type Deps = {
  store: Store
  clock: Clock
  keys: Keys
  apps: Apps
  auth: Auth
  erasures: Pick<Erasures, 'admit'>
}

export function accessRoutes(deps: Deps): Route[] {
  const { apps, erasures } = deps
  const userAccess = openUserAccess(deps)

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/users/:app_user_id/access',
      summary: 'Says whether a user has access, until when, and through which products',
      description:
        'A user who never bought, also one that Windfall does not know, has no access: that is not an error. ' +
        'The user id is one percent-encoded path segment. The server log does not contain the user id.',
      access: backendAccess(deps),
      params: AccessPath,
      query: AccessQuery,
      private_path: true,
      answers: { 200: { description: 'The access of the user now', schema: AccessAnswer } },
      refusals: { 404: 'unknown_app', 409: 'ambiguous_app', 410: 'forgotten' },
      handler({ caller, params: { app_user_id }, query: { app, environment } }) {
        const app_id = appIdOf(apps, caller, app)
        erasures.admit(app_id, app_user_id)
        return userAccess.read({ app_id, app_user_id, environment })
      },
    }),
  ]
}

/** Admits the bearer of a secret key, with all apps of its organization, and every reader. */
function backendAccess({ keys, auth }: Deps): Access<AccessScope> {
  return {
    security: ['secret_key', ...auth.reader.security],
    refusals: {
      401: `invalid_key, ${auth.reader.refusals[401]}`,
      403: `secret_key_required, ${auth.reader.refusals[403]}`,
    },
    admit(event) {
      const authorization = header(event, 'authorization') ?? ''
      if (!/^bearer +[sp]k_/i.test(authorization)) return auth.reader.admit(event)
      return { organization_id: secretKeyOf(keys, authorization).organization_id, apps: null }
    },
  }
}

/**
 * The app that a query names, or else the only one of the caller.
 *
 * @throws Refusal 400 `invalid_request` if it names none of several; 404 `unknown_app`; 409 `ambiguous_app`.
 */
function appIdOf(apps: Apps, scope: AccessScope, name: string | undefined): string {
  const [id, another] =
    name === undefined ? appsInScope(scope, apps).map((app) => app.id) : resolveApps(name, scope, apps)
  if (id === undefined) throw new Refusal(404, 'unknown_app', 'no app is connected that you can read')
  if (another === undefined) return id
  if (name === undefined)
    throw invalid([{ path: 'app', message: 'is required, because you can read several apps' }])
  throw new Refusal(409, 'ambiguous_app', `several organizations have ${name}: send the app id`)
}
