/** Resolves an organization or app from an id in a request. */
import type { App, Apps } from '../apps/apps.ts'
import type { Organization, Organizations } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'

/**
 * Returns a function that finds an organization by id. Without an id, it returns the only organization and throws
 * `organization_needed` if there are several.
 *
 * @throws Refusal 404 `unknown_organization`, 400 `organization_needed`.
 */
export function openOrganizationLookup(organizations: Organizations) {
  return (id: string | undefined | null): Organization => {
    if (id === undefined || id === null) return organizations.resolve(null)
    const found = organizations.list().find((one) => one.id === id)
    if (found) return found
    throw new Refusal(404, 'unknown_organization', `no organization has the id ${id.slice(0, 40)}`)
  }
}

/**
 * Returns the connected app with this app id or bundle id.
 *
 * @throws Refusal 404 `unknown_app`, 409 `ambiguous_app` if several organizations have the bundle id.
 */
export function findApp(apps: Apps, name: string): App {
  const [app, another] = apps.list().filter(({ id, bundle_id }) => id === name || bundle_id === name)
  if (app && !another) return app
  if (app) throw new Refusal(409, 'ambiguous_app', `several organizations have ${name}; use the app id`)
  throw new Refusal(404, 'unknown_app', `${name.slice(0, 200)} is not connected`)
}
