/** `/api/v1/apps`: the connected apps. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope } from '../access/scope.ts'
import type { Apps } from '../apps/apps.ts'
import type { Route } from '../http/route.ts'
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
const AppsAnswer = v.object({ apps: v.array(AppAnswer) })

type Deps = { apps: Apps; auth: Auth }

export const appRoutes = ({ apps, auth }: Deps): Route[] =>
  defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/apps',
    summary: 'Lists the connected apps',
    access: auth.viewer,
    answer: { description: 'The apps that the token can read', schema: AppsAnswer },
    read: ({ caller }) => ({ apps: appsInScope(caller.accessScope, apps) }),
  })
