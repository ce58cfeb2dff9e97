/** What we compute: whose figures a reader asks for: apps by their organizations, within what it may read. */
import { appsInScope, resolveApps } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import type { SeriesScope } from '../../metrics/series/series.ts'
import type { ScopeInput } from '../../metrics/series/series_request.ts'

type Deps = { organizations: Organizations; apps: Apps }

export function openMetricScopes({ organizations, apps }: Deps) {
  /**
   * The apps that are asked for and may be read, by their organizations, in the order of these.
   *
   * @throws Refusal 404 `unknown_app` where there is none.
   */
  function scopesOf(
    accessScope: AccessScope,
    { app, organization, environment, zone }: ScopeInput,
  ): SeriesScope[] {
    const ids = app?.flatMap((name) => resolveApps(name, accessScope, apps))
    const chosen = appsInScope(accessScope, apps).filter(
      (one) =>
        (ids?.includes(one.id) ?? true) && (organization ?? one.organization_id) === one.organization_id,
    )
    if (chosen.length === 0)
      throw new Refusal(404, 'unknown_app', 'there is no connected app that this token may read')
    const grouped = Map.groupBy(chosen, ({ organization_id }: App) => organization_id)
    return organizations.list().flatMap((one) => {
      const own = grouped.get(one.id)
      return own ? [{ organization: one, apps: own, environment, zone }] : []
    })
  }

  /** @throws Refusal 400 `organization_needed`: what is counted in two currencies or by two calendars has no sum. */
  function scopeOf(accessScope: AccessScope, query: ScopeInput): SeriesScope {
    const scopes = scopesOf(accessScope, query)
    const [only] = scopes
    if (only && scopes.length === 1) return only
    throw ambiguousOrganization(scopes)
  }

  return { scopesOf, scopeOf }
}

function ambiguousOrganization(scopes: readonly SeriesScope[]): Refusal {
  const names = scopes.map(({ organization }) => `${organization.id} (${organization.slug})`).join(', ')
  const detail = `apps of several organizations are not summed up; name one as organization: ${names}`
  return new Refusal(400, 'organization_needed', detail)
}
