/** The command `windfall connect`: a running server takes the keys over, and Apple is shown the way to it. */
import * as v from 'valibot'
import type { AppleApp } from '../../apple/api/connect.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Config } from '../../config/settings.ts'
import { askControl } from '../../control/socket.ts'
import { Refusal } from '../../errors.ts'
import { openReader } from '../../store/reader.ts'
import { harmless } from '../instance/instance.ts'
import type { Asking } from './checks.ts'
import type { Talk } from './prompt.ts'
import { testNotification } from './test.ts'

type Connected = {
  talk: Talk
  asking: Asking
  interactive: boolean
  test: boolean
  config: Config
  /** Whether the config file says something else than before. */
  has_changed: boolean
  /** Whether there is a vendor number, whose reports are imported. */
  has_reports: boolean
  apps: readonly AppleApp[]
  /** The In-App Purchase key, with which a test notification can be asked for. */
  key: ApiKey | null
}

const Reloaded = v.object({ taken_over: v.array(v.string()), needs_a_restart: v.array(v.string()) })
const ELSEWHERE =
  'the running Windfall has read its configuration again and found no other keys: was it started with another config file?'

const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

/** Tells the server that runs, if one does, and follows a test notification to it. */
export async function takeOver(connected: Connected): Promise<void> {
  const { talk, config } = connected
  const answered = await askControl(config.store.path, 'config.reload', {})
  if (answered === null) {
    tellAddress(connected)
    talk.say(
      '\nWindfall does not run yet. Start it with `windfall serve`: it then lists the apps and imports the',
    )
    talk.say('past year. `windfall doctor --test` sends a test notification.')
    return
  }
  const { taken_over, needs_a_restart } = v.parse(Reloaded, answered.result)
  if (connected.has_changed && !taken_over.includes('accounts'))
    throw new Refusal(409, 'another_file', ELSEWHERE)
  talk.say('   ✓ The running Windfall has taken it over.')
  if (needs_a_restart.length > 0)
    talk.say(`   Changed as well, from the next start on: ${needs_a_restart.join(', ')}`)
  await askControl(config.store.path, 'apps.refresh', { organization: null })
  tellAddress(connected)
  await tests(connected)
  if (!connected.has_reports) return
  const has_begun = taken_over.includes('accounts') ? 'has begun' : 'goes on'
  talk.say(`\nThe import of the past year ${has_begun}. \`windfall import\` shows how far it is.`)
}

function tellAddress({ talk, config, apps }: Connected): void {
  const isHttps = new URL(config.base_url).protocol === 'https:'
  talk.say(`
4. Tell Apple where Windfall is. In App Store Connect, for each app: App Information, App Store Server
   Notifications. Enter this as Production Server URL and as Sandbox Server URL, version 2:

     ${config.base_url}/apple/notifications
`)
  if (!isHttps) {
    talk.say(
      '   Apple asks for https: set base_url in the config file to the address of your proxy or tunnel first.',
    )
  }
  for (const { name, bundle_id, apple_id } of apps) {
    const page = `https://appstoreconnect.apple.com/apps/${apple_id}/distribution/info`
    talk.say(`   ${harmless(name)} (${bundle_id}): ${page}`)
  }
}

async function tests(connected: Connected): Promise<void> {
  const { talk, interactive, key, apps, test } = connected
  if (!test || key === null || apps.length === 0) return
  if (interactive && !(await talk.confirm('\n   Is it entered? Then a test notification is sent', true))) {
    return talk.say('   `windfall doctor --test` sends it later.')
  }
  while ((await testAll(connected, key)) && interactive) {
    if (!(await talk.confirm('   Once more?', false))) return
  }
}

/** Sends a test notification for every app in both environments; true when one did not arrive. */
async function testAll({ talk, asking, config, apps }: Connected, key: ApiKey): Promise<boolean> {
  const reader = openReader(config.store.path)
  let isWanting = false
  try {
    for (const { bundle_id } of apps) {
      for (const environment of ENVIRONMENTS) {
        const { state, words } = await testNotification({ bundle_id, key }, environment, asking, reader)
        talk.say(`   ${state === 'ok' ? '✓' : '✗'} ${bundle_id}, ${environment}: ${words}`)
        isWanting ||= state !== 'ok'
      }
    }
  } finally {
    reader?.close()
  }
  return isWanting
}
