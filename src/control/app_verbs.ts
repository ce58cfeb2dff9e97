/** Control verbs of apps. */
import * as v from 'valibot'
import { BundleId } from '../api/apps.ts'
import { refusedByApple } from '../api/owner/test_notification.ts'
import type { Windfall } from '../app.ts'
import type { CatalogueChanges } from '../apps/catalogue.ts'
import { type Verbs, verb } from './socket.ts'

const optionalSlug = v.optional(v.nullable(v.string()), null)
const text = v.pipe(v.string(), v.nonEmpty())
const optionalText = v.optional(text)

/** The arguments of `apps.add`. */
export const AddApp = v.object({
  organization: optionalSlug,
  bundle_id: BundleId,
  name: optionalText,
  apple_id: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  team_id: v.optional(v.pipe(text, v.regex(/^[A-Z0-9]{10}$/, 'a team id is ten capital letters and digits'))),
  android_package: optionalText,
  sku: optionalText,
})
const NamedApp = v.object({ organization: optionalSlug, bundle_id: text })

/** What a second `apps add` can change. */
const DETAILS = ['name', 'apple_id', 'team_id', 'android_package', 'sku'] as const

/** The verbs `apps.*`. */
export function appVerbs(windfall: Windfall): Verbs {
  const { store, apps, organizations, arrivals } = windfall

  async function addApp({ organization, ...declaration }: v.InferOutput<typeof AddApp>) {
    const { id, slug: name } = organizations.resolve(organization)
    const { app, change } = await store.commit(() => {
      const before = apps
        .byBundle(declaration.bundle_id)
        .find(({ organization_id }) => organization_id === id)
      const app = apps.add(id, declaration, 'command line')
      const isSame = before !== undefined && DETAILS.every((detail) => before[detail] === app[detail])
      return { app, change: before === undefined ? 'added' : isSame ? 'none' : 'updated' }
    })
    return { app, organization: name, change, applied: await arrivals.applyPending() }
  }

  return {
    'apps.add': verb(AddApp, addApp),
    'apps.remove': verb(NamedApp, ({ organization, bundle_id }) =>
      store.commit(() => apps.remove(organizations.resolve(organization).id, bundle_id)),
    ),
    'apps.list': verb(v.object({}), () => ({
      organizations: organizationsWithApps(windfall),
      pending: arrivals.pending.list(),
    })),
    'apps.refresh': verb(v.object({ organization: optionalSlug }), ({ organization }) =>
      refreshApps(windfall, organization),
    ),
  }
}

const organizationsWithApps = ({ organizations, apps }: Windfall) =>
  organizations
    .list()
    .map((organization) => ({
      ...organization,
      apps: apps.list().filter((app) => app.organization_id === organization.id),
    }))

async function refreshApps(
  { accounts, catalogue, organizations }: Windfall,
  organization: string | null,
): Promise<(CatalogueChanges & { organization: string })[]> {
  const all = organizations.list().filter(({ id }) => accounts.forOrganization(id)?.connect)
  const matching = organization === null && all.length > 0 ? all : [organizations.resolve(organization)]
  const refreshed: (CatalogueChanges & { organization: string })[] = []
  for (const { id, slug: name } of matching) {
    const changes = await catalogue.refresh(id).catch(refusedByApple)
    refreshed.push({ organization: name, ...changes })
  }
  return refreshed
}
