/** Reloads a running server after `windfall connect`, and shows the notification URL for App Store Connect. */
import * as v from 'valibot'
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Config } from '../../config/settings.ts'
import { callControl } from '../../control/socket.ts'
import type { AppleQueryOptions } from '../../doctor/apple/key_checks.ts'
import { testNotification } from '../../doctor/apple/test_notification.ts'
import { Refusal } from '../../errors.ts'
import { commandName } from '../../program/form.ts'
import { openReader } from '../../store/reader.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { stripControls } from '../instance/instance.ts'
import type { Prompt } from './prompt.ts'

type ConnectResult = {
  prompt: Prompt
  apple: AppleQueryOptions
  interactive: boolean
  test: boolean
  config: Config
  /** Whether the config file changed. */
  hasChanged: boolean
  /** Whether there is a vendor number to import reports for. */
  hasReports: boolean
  apps: readonly AppleApp[]
  /** The In-App Purchase key, used to request a test notification. */
  key: ApiKey | null
}

const Reloaded = v.object({ taken_over: v.array(v.string()), needs_a_restart: v.array(v.string()) })
const RELOAD_FAILED =
  'the running server reloaded its configuration and found no new keys; check whether it uses another config file'

const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

/** Reloads the running server, if there is one, and follows test notifications until it has received them. */
export async function reloadServer(connected: ConnectResult): Promise<void> {
  const { prompt, config } = connected
  const response = await callControl(config.store.path, 'config.reload', {})
  if (response === null) {
    printAddress(connected)
    prompt.print(
      `\nWindfall is not running. Start it with \`${startOfServer()}\`: it then lists your apps and imports the`,
    )
    prompt.print(`past year. \`${commandName} doctor --test\` sends a test notification.`)
    return
  }
  const { taken_over, needs_a_restart } = v.parse(Reloaded, response.result)
  if (connected.hasChanged && !taken_over.includes('accounts'))
    throw new Refusal(409, 'another_file', RELOAD_FAILED)
  prompt.print('   ✓ The running server uses the new settings.')
  if (needs_a_restart.length > 0)
    prompt.print(`   These settings changed, too, and need a restart: ${needs_a_restart.join(', ')}`)
  await callControl(config.store.path, 'apps.refresh', { organization: null })
  printAddress(connected)
  await runTests(connected)
  if (!connected.hasReports) return
  const importState = taken_over.includes('accounts') ? 'has started' : 'continues'
  prompt.print(`\nThe import of the past year ${importState}. \`${commandName} import\` shows the progress.`)
}

function printAddress({ prompt, config, apps }: ConnectResult): void {
  const isHttps = new URL(config.base_url).protocol === 'https:'
  prompt.print(`
4. Set the notification URL in App Store Connect. For each app: App Information, App Store Server
   Notifications. Enter this as Production Server URL and as Sandbox Server URL, version 2:

     ${config.base_url}/apple/notifications
`)
  if (!isHttps) {
    prompt.print(
      '   Apple requires HTTPS: first set base_url in the config file to the address of your proxy or tunnel.',
    )
  }
  for (const { name, bundle_id, apple_id } of apps) {
    const page = `https://appstoreconnect.apple.com/apps/${apple_id}/distribution/info`
    prompt.print(`   ${stripControls(name)} (${bundle_id}): ${page}`)
  }
}

async function runTests(connected: ConnectResult): Promise<void> {
  const { prompt, interactive, key, apps, test } = connected
  if (!test || key === null || apps.length === 0) return
  if (
    interactive &&
    !(await prompt.confirm('\n   Have you entered the URL? Windfall then requests a test notification', true))
  ) {
    return prompt.print(`   Run \`${commandName} doctor --test\` later to send one.`)
  }
  while ((await testAll(connected, key)) && interactive) {
    if (!(await prompt.confirm('   Try again?', false))) return
  }
}

/** Sends a test notification for every app in both environments. Returns true if one did not arrive. */
async function testAll({ prompt, apple, config, apps }: ConnectResult, key: ApiKey): Promise<boolean> {
  const reader = openReader(config.store.path)
  let hasFailure = false
  try {
    for (const { bundle_id } of apps) {
      for (const environment of ENVIRONMENTS) {
        const { state, words } = await testNotification({ bundle_id, key }, environment, apple, reader)
        prompt.print(`   ${state === 'ok' ? '✓' : '✗'} ${bundle_id}, ${environment}: ${words}`)
        hasFailure ||= state !== 'ok'
      }
    }
  } finally {
    reader?.close()
  }
  return hasFailure
}
