/** Resolves the apps and organizations of annotations within an access scope. */
import { appsInScope, resolveApps } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Annotation } from '../../annotations/annotation.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'

type Deps = { organizations: Organizations; apps: Apps }
type Listed = { app?: string[] | undefined; organization?: string | undefined }
type Target = { app: string | null; organization: string | null }

/** Opens the resolution. A scope of some apps has no notes about all apps. */
export function openAnnotationScopes(deps: Deps) {
  const { apps } = deps
  const wholeOrganizations = wholeOrganizationsOf(deps)
  const requireOrganization = organizationsById(deps)

  /** @throws Refusal 404 `unknown_app` or `unknown_organization`. */
  function filterOf(accessScope: AccessScope, { app, organization }: Listed) {
    const chosen = organization === undefined ? null : requireOrganization(organization)
    const ids = app?.flatMap((name) => resolveApps(name, accessScope, apps))
    const readable = appsInScope(accessScope, apps).filter(
      ({ id, organization_id }) =>
        (ids?.includes(id) ?? true) && (chosen ?? organization_id) === organization_id,
    )
    // With chosen apps, the notes about all apps of their organizations are about them, too.
    const owning = new Set(readable.map(({ organization_id }) => organization_id))
    const whole = wholeOrganizations(accessScope).filter(
      (id) => (chosen ?? id) === id && (ids === undefined || owning.has(id)),
    )
    return { apps: readable.map(({ id }) => id), organizations: whole }
  }

  /** The app of an organization; null for all its apps. @throws Refusal 404 `unknown_app`. */
  function appFor(accessScope: AccessScope, organization_id: string, name: string | null): string | null {
    if (name === null) {
      if (wholeOrganizations(accessScope).includes(organization_id)) return null
      throw new Refusal(404, 'unknown_app', 'this token is limited to apps; name one of them')
    }
    const ids = resolveApps(name, accessScope, apps)
    const found = ids.find((id) => apps.get(id)?.organization_id === organization_id)
    if (found !== undefined) return found
    throw new Refusal(404, 'unknown_app', `there is no app ${name} in that organization`)
  }

  /** @throws Refusal 404 `unknown_app`, `unknown_organization`; 400 `organization_needed`. */
  function targetOf(accessScope: AccessScope, { app, organization }: Target) {
    const ids = app === null ? [] : resolveApps(app, accessScope, apps)
    const [owner, second] = new Set(ids.map((id) => apps.get(id)?.organization_id))
    const implied = second === undefined ? owner : undefined
    const organization_id =
      organization === null
        ? (implied ?? accessScope.organization_id ?? requireOrganization(null))
        : requireOrganization(organization)
    return { organization_id, app_id: appFor(accessScope, organization_id, app) }
  }

  /** @throws Refusal 404 `unknown_annotation` if the annotation is outside the scope. */
  function requireReadable(accessScope: AccessScope, { id, app_id, organization_id }: Annotation): void {
    const filter = filterOf(accessScope, {})
    const isReadable =
      app_id === null ? filter.organizations.includes(organization_id) : filter.apps.includes(app_id)
    if (!isReadable) throw new Refusal(404, 'unknown_annotation', `there is no annotation ${id}`)
  }

  return { filterOf, targetOf, appFor, requireReadable }
}

/** The ids of the organizations whose notes about all apps are within the scope. */
const wholeOrganizationsOf =
  ({ organizations }: Deps) =>
  ({ organization_id, apps }: AccessScope): string[] =>
    organizations
      .list()
      .map(({ id }) => id)
      .filter((id) => apps === null && (organization_id ?? id) === id)

/** Requires an organization by id; the only one for null. @throws Refusal 404 `unknown_organization`, 400 `organization_needed`. */
const organizationsById =
  ({ organizations }: Deps) =>
  (id: string | null): string => {
    if (id === null) return organizations.resolve(null).id
    if (organizations.list().some((one) => one.id === id)) return id
    throw new Refusal(404, 'unknown_organization', `there is no organization with the id ${id}`)
  }
