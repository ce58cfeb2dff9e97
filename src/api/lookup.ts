/** What we compute: what the owner means by what a wish names. */
import type { App, Apps } from '../apps/apps.ts'
import type { Organization, Organizations } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'

/**
 * The organization with an id, or the only one.
 *
 * @throws Refusal 404 `unknown_organization`, 400 `organization_needed`.
 */
export function openOrganizationLookup(organizations: Organizations) {
  return (id: string | undefined | null): Organization => {
    if (id === undefined || id === null) return organizations.resolve(null)
    const found = organizations.list().find((one) => one.id === id)
    if (found) return found
    throw new Refusal(404, 'unknown_organization', `there is no organization ${id.slice(0, 40)}`)
  }
}

/**
 * The connected app that an id or a bundle id names.
 *
 * @throws Refusal 404 `unknown_app`, 409 `ambiguous_app` for a bundle id of several organizations.
 */
export function findApp(apps: Apps, name: string): App {
  const [app, another] = apps.list().filter(({ id, bundle_id }) => id === name || bundle_id === name)
  if (app && !another) return app
  if (app)
    throw new Refusal(409, 'ambiguous_app', `several organizations have ${name}: name the app by its id`)
  throw new Refusal(404, 'unknown_app', `${name.slice(0, 200)} is not connected`)
}
