/** What we compute: whose figures a reader asks for: apps by their organizations, within what it may read. */
import { appsNamed, appsWithin } from '../../access/scope.ts'
import type { Reach } from '../../access/tokens.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import type { Place } from '../../metrics/series/question.ts'
import type { Scope } from '../../metrics/series/series.ts'

type Deps = { organizations: Organizations; apps: Apps }

export function openPlaces({ organizations, apps }: Deps) {
  /**
   * The apps that are asked for and may be read, by their organizations, in the order of these.
   *
   * @throws Refusal 404 `unknown_app` where there is none.
   */
  function scopesOf(reach: Reach, { app, organization, environment, zone }: Place): Scope[] {
    const ids = app?.flatMap((name) => appsNamed(name, reach, apps))
    const chosen = appsWithin(reach, apps).filter(
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
  function scopeOf(reach: Reach, place: Place): Scope {
    const scopes = scopesOf(reach, place)
    const [only] = scopes
    if (only && scopes.length === 1) return only
    throw severalOf(scopes)
  }

  return { scopesOf, scopeOf }
}

function severalOf(scopes: readonly Scope[]): Refusal {
  const names = scopes.map(({ organization }) => `${organization.id} (${organization.slug})`).join(', ')
  const detail = `apps of several organizations are not summed up; name one as organization: ${names}`
  return new Refusal(400, 'organization_needed', detail)
}
