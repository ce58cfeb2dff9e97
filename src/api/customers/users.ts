/** `/api/v1/users`: a user of an app by the app’s own id. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { list } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import type { Rates } from '../../rates/rates.ts'
import { DisplayParam, openDisplay } from '../metrics/display.ts'
import { READ_ROUTE, waitPreferenceOf } from '../route_defaults.ts'
import { UsersAnswer } from './answers.ts'
import { appsIn, scopesOf } from './customers.ts'

const UserQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  ...DisplayParam,
})

type Deps = { customers: Customers; apps: Apps; auth: Auth; rates: Rates; clock: Clock }

export function userRoutes({ customers, apps, auth, ...deps }: Deps): Route[] {
  const display = openDisplay(deps)

  async function user(
    event: H3Event,
    accessScope: AccessScope,
    app_user_id: string,
    { app, display_currency }: v.InferOutput<typeof UserQuery>,
  ) {
    const scopes = scopesOf(apps, accessScope, app, ['production', 'sandbox'])
    await customers.ready(appsIn(apps, scopes), waitPreferenceOf(event))
    const appIds = [...new Set(scopes.map(({ app_id }) => app_id))]
    const users = appIds.flatMap((app_id) => customers.user(app_id, app_user_id, scopes) ?? [])
    if (users.length > 0) return { users: users.map((one) => inDisplay(one, display_currency)) }
    const detail = `no user ${app_user_id} is readable with this token`
    throw new Refusal(404, 'unknown_user', detail)
  }

  const inDisplay = <User extends { customers: readonly ReturnType<Customers['summaryOf']>[] }>(
    found: User,
    to: string | undefined,
  ) => ({ ...found, customers: found.customers.map((one) => display.fields(one, to)) })

  const route = defineRoute({
    ...READ_ROUTE,
    path: '/api/v1/users/:app_user_id',
    summary: 'Returns a user by your own id: attributes, purchases and customers',
    access: auth.reader,
    query: UserQuery,
    private_path: true,
    answers: { 200: { description: 'The user in each app that has the id', schema: UsersAnswer } },
    refusals: { 404: 'unknown_app, unknown_user' },
    handler: ({ event, caller, params, query }) => user(event, caller, params.app_user_id, query),
  })
  return [route]
}
