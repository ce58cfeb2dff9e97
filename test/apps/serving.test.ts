import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { APPLE_ID, BUNDLE, dataBody, outerPayload } from '../apple/samples.ts'
import { windfall } from '../cli/command.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../helpers.ts'
import { folderOf, startServing } from '../processes.ts'

const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
/** `windfall serve` that trusts the root in ROOT_PEM, if set, and receives SIGHUP when it first reads its configuration. */
const entry = join(folderOf(), 'serving.mjs')
writeFileSync(
  entry,
  `import { serveUntilStopped } from ${source('cli/serve.ts')}
import { loadConfig } from ${source('config/load.ts')}
const { ROOT_PEM, ...env } = process.env
let read = 0
await serveUntilStopped(() => {
  read += 1
  if (read === 1) process.kill(process.pid, 'SIGHUP')
  return loadConfig({ env, cwd: process.cwd() })
}, ROOT_PEM ? { roots: [ROOT_PEM] } : {})
`,
)

/** Changes an instance while no server runs, at the current time: a starting server deletes old pending notifications. */
async function prepare(folder: string, act: (app: TestApp) => Promise<unknown>): Promise<void> {
  const app = await openTestApp({ folder, clock: handClock(Date.now()) })
  await act(app)
  await app.close()
}

test('survives SIGHUP during the start, and reloads once it serves', async () => {
  const serving = await startServing({ cwd: folderOf(), entry })
  expect(await serving.logged('configuration reloaded')).toMatchObject({ taken_over: [] })
  serving.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ status: 0, stderr: '' })
})

test('logs a reload that fails halfway and changes nothing, and compares the next one with the running configuration', async () => {
  expectErrors('the configuration is invalid and was not reloaded')
  const key = `pk_live_${'a'.repeat(32)}`
  const organization = (slug: string, more: string) => `[[organizations]]\nslug = "${slug}"\n${more}\n`
  const cwd = folderOf({ 'config.toml': organization('acme', `publishable_key = "${key}"`) })
  const serving = await startServing({ cwd, entry })
  await serving.logged('configuration reloaded')
  const reload = (toml: string) => {
    writeFileSync(join(cwd, 'config.toml'), toml)
    serving.kill('SIGHUP')
  }
  const limits = '[limits]\nsdk_requests_per_minute = 7\n'
  reload(limits + organization('acme', '') + organization('blue', `publishable_key = "${key}"`))
  expect(
    await serving.logged(
      'the configuration is invalid and was not reloaded; the previous one stays in effect',
    ),
  ).toMatchObject({
    why: 'the publishable key …aaaa in config.toml belongs to the organization acme; declare it there, or use another key',
  })
  reload(limits + organization('acme', `publishable_key = "${key}"`))
  const taken = await serving.logged('configuration reloaded', (line) => String(line.taken_over) !== '')
  expect(taken).toMatchObject({ taken_over: ['limits.sdk_requests_per_minute'] })
  serving.kill('SIGTERM')
  await serving.ended
  await prepare(cwd, async ({ windfall: { audit } }) => {
    const read = { actor: 'command line', action: 'configuration.read' }
    const details = ['limits.sdk_requests_per_minute', '']
    expect(audit.list(null, 9)).toMatchObject(details.map((detail) => ({ ...read, detail })))
  })
})

test('shows the successor of a rotated key at the start', async () => {
  const cwd = folderOf()
  let [old, successor] = ['', '']
  await prepare(cwd, async ({ windfall: { keys, store } }) => {
    const [key] = keys.list(null)
    old = key?.token ?? ''
    successor = (await store.commit(() => keys.rotate(key?.id ?? '', 0))).token
  })
  const serving = await startServing({ cwd, entry })
  const shown = await serving.until((text) => /Publishable key: (\S+)/.exec(text)?.[1])
  expect(shown).toBe(successor)
  expect(old).toMatch(/^pk_live_/)
  expect(serving.stdout()).not.toContain(old)
})

test('apps list says why each notification is pending', async () => {
  const cwd = folderOf()
  await prepare(cwd, async (app) => {
    const test = { notificationType: 'TEST' }
    await app.notify(outerPayload(dataBody({ appAppleId: 77 }), test))
    await app.notify(outerPayload(dataBody({ bundleId: 'com.nobody' }), test))
  })
  const env = { ROOT_PEM: (await sharedAuthority()).root_pem }
  const serving = await startServing({ cwd, entry, env })
  const { stdout } = windfall(['apps', 'list'], { cwd })
  const connected = `connected with Apple id ${APPLE_ID}, but Apple sends 77; run: npm run -s windfall -- apps add ${BUNDLE} --apple-id 77\n`
  expect(stdout).toContain(connected)
  expect(stdout).toContain('  not connected; run: npm run -s windfall -- apps add com.nobody\n')
  writeFileSync(join(cwd, 'config.toml'), `[[apps]]\nbundle_id = "${BUNDLE}"\n`)
  serving.kill('SIGHUP')
  await serving.logged('configuration reloaded', (line) => String(line.taken_over) === 'apps')
  expect(windfall(['apps', 'list'], { cwd }).stdout).toContain(
    'but Apple sends 77; set apple_id = 77 in config.toml\n',
  )
})

test('refused list shows notifications that failed verification, and the original text of one', async () => {
  const cwd = folderOf()
  await prepare(cwd, () => Promise.resolve())
  expect(windfall(['refused', 'list'], { cwd }).stdout).toContain('No notification was refused.')
  await prepare(cwd, (app) => app.post('/apple/notifications', { signedPayload: 'junk.\u001b[31m.x' }))
  expect(windfall(['refused', 'list'], { cwd }).stdout).toMatch(
    /^number +when +from +reason +detail\n1 +\d{4}-\d\d-\d\d \d\d:\d\dZ +127\.0\.0\.1 +\w+ +\S.*\n$/,
  )
  expect(windfall(['refused', 'list', '--raw', '1'], { cwd }).stdout).toBe('junk.\u001b[31m.x\n')
  expect(windfall(['refused', 'list', '--raw', '7'], { cwd })).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'there is no refused notification 7; npm run -s windfall -- refused list shows them\n',
  })
  expect(windfall(['refused', 'list', '--raw', 'x'], { cwd })).toMatchObject({ status: 2, stdout: '' })
})

test('shows every valid publishable key with its label, oldest first', async () => {
  const cwd = folderOf()
  await prepare(cwd, () => Promise.resolve())
  const token = (args: string[]) => windfall(args, { cwd }).stdout.trim().split(/\s+/)
  const ios = token(['keys', 'create', '--label', 'ios'])
  const [gone = ''] = token(['keys', 'create', '--label', 'web'])
  const android = token(['keys', 'create', '--label', 'android'])
  token(['keys', 'revoke', gone])
  const serving = await startServing({ cwd, entry })
  await serving.until((text) => /Notification URL/.exec(text))
  const shown = serving.stdout().match(/Publishable key.*/g) ?? []
  const own = shown.filter((line) => !line.includes('(Default key)'))
  expect(own).toEqual([`Publishable key (ios): ${ios[1]}`, `Publishable key (android): ${android[1]}`])
})
