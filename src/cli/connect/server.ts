/** The command `windfall connect`: a running server takes the keys over, and Apple is shown the way to it. */
import * as v from 'valibot'
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Config } from '../../config/settings.ts'
import { callControl } from '../../control/socket.ts'
import { Refusal } from '../../errors.ts'
import { openReader } from '../../store/reader.ts'
import { stripControls } from '../instance/instance.ts'
import type { AppleQueryOptions } from './checks.ts'
import type { Prompt } from './prompt.ts'
import { testNotification } from './test.ts'

type ConnectResult = {
  prompt: Prompt
  apple: AppleQueryOptions
  interactive: boolean
  test: boolean
  config: Config
  /** Whether the config file says something else than before. */
  hasChanged: boolean
  /** Whether there is a vendor number, whose reports are imported. */
  hasReports: boolean
  apps: readonly AppleApp[]
  /** The In-App Purchase key, with which a test notification can be asked for. */
  key: ApiKey | null
}

const Reloaded = v.object({ taken_over: v.array(v.string()), needs_a_restart: v.array(v.string()) })
const RELOAD_FAILED =
  'the running Windfall has read its configuration again and found no other keys: was it started with another config file?'

const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

/** Tells the server that runs, if one does, and follows a test notification to it. */
export async function reloadServer(connected: ConnectResult): Promise<void> {
  const { prompt, config } = connected
  const answered = await callControl(config.store.path, 'config.reload', {})
  if (answered === null) {
    printAddress(connected)
    prompt.print(
      '\nWindfall does not run yet. Start it with `windfall serve`: it then lists the apps and imports the',
    )
    prompt.print('past year. `windfall doctor --test` sends a test notification.')
    return
  }
  const { taken_over, needs_a_restart } = v.parse(Reloaded, answered.result)
  if (connected.hasChanged && !taken_over.includes('accounts'))
    throw new Refusal(409, 'another_file', RELOAD_FAILED)
  prompt.print('   ✓ The running Windfall has taken it over.')
  if (needs_a_restart.length > 0)
    prompt.print(`   Changed as well, from the next start on: ${needs_a_restart.join(', ')}`)
  await callControl(config.store.path, 'apps.refresh', { organization: null })
  printAddress(connected)
  await runTests(connected)
  if (!connected.hasReports) return
  const hasBegun = taken_over.includes('accounts') ? 'has begun' : 'goes on'
  prompt.print(`\nThe import of the past year ${hasBegun}. \`windfall import\` shows how far it is.`)
}

function printAddress({ prompt, config, apps }: ConnectResult): void {
  const isHttps = new URL(config.base_url).protocol === 'https:'
  prompt.print(`
4. Tell Apple where Windfall is. In App Store Connect, for each app: App Information, App Store Server
   Notifications. Enter this as Production Server URL and as Sandbox Server URL, version 2:

     ${config.base_url}/apple/notifications
`)
  if (!isHttps) {
    prompt.print(
      '   Apple asks for https: set base_url in the config file to the address of your proxy or tunnel first.',
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
  if (interactive && !(await prompt.confirm('\n   Is it entered? Then a test notification is sent', true))) {
    return prompt.print('   `windfall doctor --test` sends it later.')
  }
  while ((await testAll(connected, key)) && interactive) {
    if (!(await prompt.confirm('   Once more?', false))) return
  }
}

/** Sends a test notification for every app in both environments; true when one did not arrive. */
async function testAll({ prompt, apple, config, apps }: ConnectResult, key: ApiKey): Promise<boolean> {
  const reader = openReader(config.store.path)
  let shouldAsk = false
  try {
    for (const { bundle_id } of apps) {
      for (const environment of ENVIRONMENTS) {
        const { state, words } = await testNotification({ bundle_id, key }, environment, apple, reader)
        prompt.print(`   ${state === 'ok' ? '✓' : '✗'} ${bundle_id}, ${environment}: ${words}`)
        shouldAsk ||= state !== 'ok'
      }
    }
  } finally {
    reader?.close()
  }
  return shouldAsk
}
