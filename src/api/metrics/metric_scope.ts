/** Resolves the apps and the organization that a metrics request is about, within the caller's access scope. */
import type { MetricLimit } from '../../access/metric_limit.ts'
import { appsInScope, resolveApps } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import type { SeriesScope } from '../../metrics/series/series.ts'
import type { ScopeInput } from '../../metrics/series/series_request.ts'

/** What a caller may read: apps, and metrics. */
type Readable = { accessScope: AccessScope; metrics: MetricLimit }

type Deps = { organizations: Organizations; apps: Apps }

export function openMetricScopes({ organizations, apps }: Deps) {
  /**
   * Returns the requested apps that the caller can read, grouped by organization, in the order of the organizations.
   *
   * @throws Refusal 404 `unknown_app` if there are none.
   */
  function scopesOf(
    { accessScope, metrics }: Readable,
    { app, organization, environment, zone }: ScopeInput,
  ): SeriesScope[] {
    const appIds = app?.flatMap((name) => resolveApps(name, accessScope, apps))
    const chosen = appsInScope(accessScope, apps).filter(
      (one) =>
        (appIds?.includes(one.id) ?? true) && (organization ?? one.organization_id) === one.organization_id,
    )
    if (chosen.length === 0)
      throw new Refusal(404, 'unknown_app', 'no connected app is readable with this token')
    const grouped = Map.groupBy(chosen, ({ organization_id }: App) => organization_id)
    return organizations.list().flatMap((one) => {
      const organizationApps = grouped.get(one.id)
      return organizationApps
        ? [{ organization: one, apps: organizationApps, environment, zone, metrics }]
        : []
    })
  }

  /** @throws Refusal 400 `organization_needed`: amounts in two currencies or time zones cannot be summed. */
  function scopeOf(readable: Readable, query: ScopeInput): SeriesScope {
    const scopes = scopesOf(readable, query)
    const [only] = scopes
    if (only && scopes.length === 1) return only
    throw ambiguousOrganization(scopes)
  }

  return { scopesOf, scopeOf }
}

function ambiguousOrganization(scopes: readonly SeriesScope[]): Refusal {
  const names = scopes.map(({ organization }) => `${organization.id} (${organization.slug})`).join(', ')
  const detail = `these apps belong to several organizations; set the parameter organization to one of: ${names}`
  return new Refusal(400, 'organization_needed', detail)
}
