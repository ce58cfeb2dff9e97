/** `/api/v1/apps`: the connected apps. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope } from '../access/scope.ts'
import type { AppleClients } from '../apps/apple_clients.ts'
import type { Apps } from '../apps/apps.ts'
import { Refusal } from '../errors.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE } from './route_defaults.ts'

/** A bundle id, as the owner enters it. */
export const BundleId = v.pipe(
  v.string(),
  v.maxLength(255, 'is longer than 255 characters'),
  v.regex(/^[A-Za-z0-9.-]+$/, 'a bundle id has letters, digits, dots and hyphens'),
  v.regex(/^[^.]+(\.[^.]+)+$/, 'a bundle id has parts between dots, such as com.example.app'),
)
const nullableText = v.nullable(v.string())
/** A connected app. */
export const AppAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  bundle_id: v.string(),
  name: nullableText,
  apple_id: v.nullable(v.number()),
  team_id: nullableText,
  android_package: nullableText,
  sku: nullableText,
  source: v.string(),
  created_at: v.number(),
  gone_at: v.nullable(v.number()),
})
const ListedApp = v.object({
  ...AppAnswer.entries,
  icon: v.pipe(nullableText, v.description('The path of the icon; null if it is not known, and for guests')),
})
const AppsAnswer = v.object({ apps: v.array(ListedApp) })

type Deps = { apps: Apps; appleClients: AppleClients; auth: Auth }

const iconPath = (id: string): string => `/api/v1/apps/${id}/icon`

export const appRoutes = ({ apps, appleClients, auth }: Deps): Route[] => [
  ...defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/apps',
    summary: 'Lists the connected apps',
    access: auth.viewer,
    answer: { description: 'The apps that the token can read', schema: AppsAnswer },
    read: ({ caller: { accessScope, isGuest } }) => ({
      apps: appsInScope(accessScope, apps).map((app) => ({
        ...app,
        icon: !isGuest && appleClients.iconOf(app) ? iconPath(app.id) : null,
      })),
    }),
  }),
  defineRoute({
    ...READ_ROUTE,
    path: '/api/v1/apps/:id/icon',
    summary: 'Returns the icon of an app in the App Store',
    access: auth.reader,
    answers: { 200: { description: 'The icon', content_type: 'image/*' } },
    refusals: { 404: 'not_found' },
    handler({ caller, params }) {
      const app = appsInScope(caller, apps).find(({ id }) => id === params.id)
      const icon = app && appleClients.iconOf(app)
      if (!icon) throw new Refusal(404, 'not_found', 'this app has no icon, or Apple was not reached yet')
      const headers = { 'content-type': icon.type, 'cache-control': 'private, max-age=86400' }
      return new Response(new Uint8Array(icon.bytes), { headers })
    },
  }),
]
