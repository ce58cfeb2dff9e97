/** What a start of the server prints for its owner. */
import type { Windfall } from '../app.ts'
import { setupUrl } from '../control/owner_verbs.ts'
import { commandName } from '../program/form.ts'
import { print } from './instance/output.ts'
import { linkText } from './owner.ts'

/** Until the owner has a password, each start creates a setup link. Returns its text; null if there is a password. */
export async function setupLink(windfall: Windfall): Promise<string | null> {
  const { store, owner } = windfall
  if (owner.password() !== null) return null
  const { token, expires_at } = await store.commit(() => owner.createLink('setup'))
  return linkText({ url: setupUrl(windfall, token), expires_at })
}

/** Prints where the server is, its keys, and what to do next. `link` is the setup link; null if there is a password. */
export function welcome(
  windfall: Windfall,
  server: { url: string; base_url: string },
  link: string | null,
): void {
  const isFirst = windfall.feed.head() === 0
  const hasSeveralOrganizations = windfall.organizations.list().length > 1
  print(`\nWindfall is running at ${server.url}`)
  if (link !== null) print(`  Set the dashboard password: ${link}`)
  for (const organization of windfall.organizations.list()) {
    const ofOrganization = hasSeveralOrganizations ? ` of ${organization.slug}` : ''
    const activeKeys = windfall.keys.activeKeys(organization.id, 'publishable')
    if (activeKeys.length === 0)
      print(`  Publishable key${ofOrganization}: none (run: ${commandName} keys create)`)
    for (const { token, label } of activeKeys)
      print(`  Publishable key${ofOrganization}${activeKeys.length > 1 ? ` (${label})` : ''}: ${token}`)
  }
  print(`  Notification URL for App Store Connect: ${server.base_url}/apple/notifications`)
  if (new URL(server.base_url).protocol === 'http:') {
    print('    Apple requires HTTPS: set base_url to the address of your proxy or tunnel.')
  }
  if (windfall.outgoing.held.state() !== null)
    print(
      `  Outgoing requests are held, because this database was restored or copied. To send them: ${commandName} outgoing resume`,
    )
  if (windfall.apps.list().length === 0)
    print(`  Connect your apps with Apple’s keys: ${commandName} connect`)
  if (isFirst) print(`  Or try it with demo data first: ${commandName} demo`)
  print('')
}
