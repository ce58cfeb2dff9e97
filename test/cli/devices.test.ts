/** The command `windfall devices`, and what `windfall check` says about a stricter policy. */
import { expect, test } from 'vitest'
import { openControl } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { BUNDLE } from '../apple/samples.ts'
import { openAttested } from '../attribution/devices/enrolled.ts'
import { closedAtEnd } from '../closing.ts'
import { handClock } from '../helpers.ts'
import { folderOf, run } from '../processes.ts'

test('lists devices, those of an app or a user, and revokes one', async () => {
  const { app, enrol, identify, devices } = await openAttested()
  const { path } = app.config.store
  closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  const command = (...args: string[]) => run(['devices', ...args], { cwd })
  expect((await command('list')).stdout).toBe('No device has enrolled yet.\n')
  const token = await enrol()
  await identify(token, 'ada')
  await enrol()
  const ids = devices().map(({ id }) => String(id))
  const all = await command('list')
  for (const id of ids) expect(all.stdout).toContain(id)
  expect(all.stdout).toMatch(
    new RegExp(`dev_\\w+ +${BUNDLE} +production +27\\.0 +- +1 +.* +2026-06-01 +active`),
  )
  expect((await command('list', '--user', 'ada')).stdout.trim().split('\n')).toHaveLength(2)
  expect((await command('list', '--app', 'com.example.none')).stderr).toContain('no app with the bundle id')
  const named = JSON.parse((await command('list', '--user', 'ada', '--json')).stdout).devices[0].id
  expect((await command('revoke', named)).stdout).toContain(`The token of ${named} is revoked`)
  expect((await identify(token, 'ada')).body.verification).toBe('unverified')
  expect((await command('list', '--user', 'ada')).stdout).toContain('revoked')
  expect((await command('revoke', 'dev_none')).stderr).toContain('no device has the id dev_none')
})

test('refuses calls without proof for a day, names apps without devices, and ends it', async () => {
  const { app, enrol, identify } = await openAttested()
  const { path } = app.config.store
  closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  const command = (...args: string[]) => run(['devices', 'require', ...args], { cwd })
  expect((await command()).stdout).toBe(
    `Until 2026-06-02 12:00Z, only attested devices and secret keys are accepted.\n${BUNDLE} has no attested device: all its clients are refused.\n`,
  )
  expect((await identify(null, 'ada')).code).toBe('attested_only')
  const token = await enrol()
  expect(JSON.parse((await command('--json')).stdout)).toMatchObject({ without_devices: [] })
  expect((await identify(token, 'ada')).status).toBe(200)
  expect((await command('--end')).stdout).toBe('Calls without proof are accepted.\n')
  expect((await identify(null, 'ada')).status).toBe(200)
  expect((await command('--organization', 'none')).stderr).toContain('none')
})

test('check says how many calls of the last week a stricter policy would have refused', async () => {
  const { app, enrol, identify } = await openAttested({ clock: handClock(Date.now()) })
  for (const user of ['ada', 'grace', 'edsger']) await identify(null, user)
  const { path } = app.config.store
  await app.windfall.close()
  expect(enrol).toBeDefined()
  const check = (sdk_auth: string) =>
    run(['check'], {
      cwd: folderOf({
        'config.toml': `[store]\npath = "${path}"\n[[organizations]]\nslug = "default"\nsdk_auth = "${sdk_auth}"\n`,
      }),
    })
  const sentence = 'of default would have refused 3 of the 3 calls of the last seven days'
  expect((await check('attestation')).stdout).toContain(`sdk_auth = "attestation" ${sentence}`)
  expect((await check('key')).stdout).toContain(`sdk_auth = "key" ${sentence}`)
  expect((await check('any')).stdout).not.toContain('would have refused')
})
