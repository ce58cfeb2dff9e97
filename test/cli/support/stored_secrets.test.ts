/** The command `windfall support` on an installation whose secrets were entered in the dashboard. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackTar } from 'modern-tar'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { openControl, verb } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { closedAtEnd } from '../../closing.ts'
import { openFolder } from '../../config/folder.ts'
import { run } from '../../processes.ts'
import { formsIn, openWithSecrets } from '../../stored_secrets.ts'

test('names no key, vendor number, secret or receiver of alerts that the database has', async () => {
  const folder = openFolder()
  const { app, secrets, shop, connect } = await openWithSecrets({ folder: folder.path })
  const { alerts, apps, store, log } = app.windfall
  const team_id = 'A1B2C3D4E5'
  // A provider that refuses a channel can repeat its settings, and a finding quotes the provider.
  await store.commit(() => {
    apps.add(app.organization.id, { bundle_id: 'com.example.beacon', team_id }, 'test')
    for (const channel of alerts.channels.list())
      alerts.channels.setState(
        channel,
        'dead',
        `Refused: ${[team_id, ...Object.values(channel.settings)].join(' ')}.`,
      )
  })
  const base_url = 'http://localhost:1'
  const status_verb = verb(v.object({}), () => ({ address: base_url, base_url }))
  const verbs = { ...verbsOf(app.windfall), 'instance.status': status_verb }
  closedAtEnd(await openControl(app.config.store.path, verbs, log))
  const env = { WINDFALL_BASE_URL: base_url }
  const { status } = await run(['support', 'bundle.tar'], { cwd: folder.path, env })
  expect(status).toBe(0)
  const bundle = await unpackTar(readFileSync(join(folder.path, 'bundle.tar')))
  const text = bundle.map(({ data }) => Buffer.from(data ?? []).toString()).join('\n')
  expect(text).toContain('Apple accepts the key, and it can list apps.')
  expect(text).toContain('Apple provides the reports')
  expect(text).toContain('Refused: (masked)')
  expect(formsIn(text, [...secrets, team_id, connect.key_id, shop.store.vendor_number])).toEqual([])
})
