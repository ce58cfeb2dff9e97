/** What a start of the server prints for its owner. */
import type { Windfall } from '../app.ts'
import { setupUrl } from '../control/owner_verbs.ts'
import { commandName } from '../program/form.ts'
import { isJournal } from '../systemd/notify.ts'
import { print } from './instance/output.ts'
import { linkText } from './owner.ts'

/**
 * How the owner sets the password; null if there is one. Each start creates a link, but not in a service, because others
 * can read the journal.
 */
export async function setupText(windfall: Windfall): Promise<string | null> {
  const { store, owner } = windfall
  if (owner.password() !== null) return null
  if (isJournal()) return `run ${commandName} owner reset, which prints a link`
  const { token, expires_at } = await store.commit(() => owner.createLink('setup'))
  return linkText({ url: setupUrl(windfall, token), expires_at })
}

/** Prints where the server is, its keys, and what to do next. `setup` is how to set a password; null if there is one. */
export function welcome(
  windfall: Windfall,
  server: { url: string; base_url: string },
  setup: string | null,
): void {
  const isFirst = windfall.feed.head() === 0
  const hasSeveralOrganizations = windfall.organizations.list().length > 1
  print(`\nWindfall is running at ${server.url}`)
  if (setup !== null) print(`  Set the dashboard password: ${setup}`)
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
