import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { commentedConfig } from '../../../src/config/documents.ts'
import { KEY, NO_KEYS } from '../../config/keys.ts'
import { openTestStore, TIDES } from '../../demo/store/opened.ts'
import { sharedAuthority } from '../../helpers.ts'
import { type Folder, openKeyFolder } from './connecting.ts'

const opened = await openTestStore({ subscribers: 1, authority: await sharedAuthority() })
const { store, clock } = opened
const NO_FAULTS = structuredClone(store.faults)
beforeEach(() => void Object.assign(store.faults, structuredClone(NO_FAULTS)))
afterAll(opened.close)

const ISSUER = store.connect_key.issuer_id ?? ''
const VENDOR = store.vendor_number
const modeOf = (folder: Folder, name: string) => statSync(join(folder.path, name)).mode & 0o777
const textOf = (folder: Folder, name = 'config.toml') => readFileSync(join(folder.path, name), 'utf8')
const ACCOUNT = `[[accounts]]
issuer_id = "${ISSUER}"
vendor_numbers = ["${VENDOR}"]
connect_key_id = "CNCT4K7W2Q"
connect_key_file = "keys/AuthKey_CNCT4K7W2Q.p8"
purchase_key_id = "PRCH9M3X5L"
purchase_key_file = "keys/SubscriptionKey_PRCH9M3X5L.p8"
`

function expectNothingWritten(folder: Folder): void {
  expect(
    ['config.toml', 'config.toml.partial', 'keys'].filter((name) => existsSync(join(folder.path, name))),
  ).toEqual([])
}

test('with all options, tests both keys and writes them into a new config file', async () => {
  const folder = openKeyFolder(opened)
  const { text, refusal } = await folder.connect()
  expect(refusal).toBeNull()
  expect(text).toContain('It can access 3 apps: Tides (com.lanternlabs.tides)')
  expect(text).toContain('Windfall is not running. Start it with `npm start`')
  expect(text).toContain('/apple/notifications')
  expect(text).toContain('Apple requires HTTPS')
  expect(textOf(folder)).toBe(`${commentedConfig()}\n${ACCOUNT}`)
  expect(textOf(folder, 'keys/AuthKey_CNCT4K7W2Q.p8')).toBe(store.connect_key.private_key)
  expect(textOf(folder, 'keys/SubscriptionKey_PRCH9M3X5L.p8')).toBe(store.purchase_key.private_key)
  expect(
    ['config.toml', 'keys', 'keys/AuthKey_CNCT4K7W2Q.p8', 'keys/SubscriptionKey_PRCH9M3X5L.p8'].map((name) =>
      modeOf(folder, name),
    ),
  ).toEqual([0o600, 0o700, 0o600, 0o600])
  expect(existsSync(join(folder.path, 'config.toml.partial'))).toBe(false)
  expect(folder.load().config.accounts).toMatchObject([
    { organization: 'default', issuer_id: ISSUER, vendor_numbers: [VENDOR], connect_key_id: 'CNCT4K7W2Q' },
  ])
})

test('writes into the config file of the installed service, from every folder', async () => {
  const folder = openKeyFolder(opened)
  const installed = folder.write('etc/config.toml', '# installed\n')
  const { text } = await folder.connect({ fallback: installed })
  expect(text).toContain(`Windfall stores the settings in ${installed}`)
  expect(textOf(folder, 'etc/config.toml')).toBe(`# installed\n\n${ACCOUNT}`)
  expectNothingWritten(folder)
})

test('asks for each value, with key ids guessed from the file names', async () => {
  const folder = openKeyFolder(opened)
  const { text, refusal } = await folder.connect({
    lines: [
      `"${folder.path}/got/AuthKey_CNCT4K7W2Q.p8" `,
      '',
      ISSUER,
      VENDOR,
      'got/SubscriptionKey_PRCH9M3X5L.p8',
      '',
      '',
      'y',
    ],
  })
  expect(refusal).toBeNull()
  expect(text).toContain('Key id [CNCT4K7W2Q]')
  expect(text).toContain(`Issuer id [${ISSUER}]`)
  expect(textOf(folder)).toBe(`${commentedConfig()}\n${ACCOUNT}`)
})

test('keeps the rest of config.toml byte for byte, its mode and a symbolic link to it', async () => {
  const folder = openKeyFolder(opened)
  const before = '# ours\r\n[[organizations]] # one\r\nslug   = "acme"\r\n\r\n[log]\r\nlevel = "warn" # quiet'
  folder.write('real/windfall.toml', before, 0o640)
  symlinkSync('real/windfall.toml', join(folder.path, 'config.toml'))
  expect((await folder.connect()).refusal).toBeNull()
  expect(textOf(folder, 'real/windfall.toml')).toBe(`${before}\r\n\r\n${ACCOUNT.replaceAll('\n', '\r\n')}`)
  expect(modeOf(folder, 'real/windfall.toml')).toBe(0o640)
  expect(folder.load().config.accounts).toMatchObject([
    { organization: 'acme', connect_key_id: 'CNCT4K7W2Q' },
  ])
})

test('run again, changes only what differs and suggests current values', async () => {
  const folder = openKeyFolder(opened)
  const before = ACCOUNT.replace('PRCH9M3X5L"\n', 'OLDOLDOLD1" # spring\n').replace('/Sub', '/Old')
  folder.write('config.toml', `# mine\n${before}# the end\n`)
  folder.write('keys/AuthKey_CNCT4K7W2Q.p8', store.connect_key.private_key)
  folder.write('keys/OldscriptionKey_PRCH9M3X5L.p8', KEY)
  const given = 'got/SubscriptionKey_PRCH9M3X5L.p8'
  expect((await folder.connect({ flags: { 'purchase-key': given } })).refusal).toBeNull()
  const after = `# mine\n${ACCOUNT.replace('PRCH9M3X5L"\n', 'PRCH9M3X5L" # spring\n')}# the end\n`
  expect(textOf(folder)).toBe(after)
  const { text, refusal } = await folder.connect({ lines: ['', '', '', ''] })
  expect(refusal).toBeNull()
  expect(text).toContain('[the current one]')
  expect(textOf(folder)).toBe(after)
})

test('writes a repeated vendor number once', async () => {
  const folder = openKeyFolder(opened)
  const flags = { ...folder.flags, vendor: `${VENDOR}, ${VENDOR}` }
  expect((await folder.connect({ flags })).refusal).toBeNull()
  expect(folder.load().config.accounts).toMatchObject([{ vendor_numbers: [VENDOR] }])
})

test('an account can lack vendor numbers and the In-App Purchase key', async () => {
  const folder = openKeyFolder(opened)
  const flags = { ...folder.flags, vendor: 'none', 'purchase-key': 'none' }
  expect((await folder.connect({ flags })).refusal).toBeNull()
  expect(textOf(folder).split('[[accounts]]\n').at(-1)).toBe(
    `issuer_id = "${ISSUER}"\nconnect_key_id = "CNCT4K7W2Q"\nconnect_key_file = "keys/AuthKey_CNCT4K7W2Q.p8"\n`,
  )
})

test('with several organizations, requires the organization of the keys', async () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n')
  expect((await folder.connect()).refusal).toBe('--organization is required\nNothing was written.')
  expect((await folder.connect({ flags: { ...folder.flags, organization: 'c' } })).refusal).toContain(
    'c is not declared',
  )
  expect((await folder.connect({ flags: { ...folder.flags, organization: 'b' } })).refusal).toBeNull()
  expect(folder.load().config.accounts).toMatchObject([{ organization: 'b' }])
})

test('without a terminal, lists every missing option', async () => {
  const folder = openKeyFolder(opened)
  expect((await folder.connect({ flags: {} })).refusal).toBe(
    `Not a terminal; pass these options:
  --connect-key FILE
  --issuer ID (or none, for an individual key)
  --vendor NUMBERS (or none)
  --purchase-key FILE (or none)
Nothing was written.`,
  )
  folder.write('got/key.p8', store.connect_key.private_key)
  const { refusal } = await folder.connect({ flags: { ...folder.flags, 'connect-key': 'got/key.p8' } })
  expect(refusal).toBe('--connect-key-id is required\nNothing was written.')
  expectNothingWritten(folder)
})

test.each([
  ['a file that is missing', { 'connect-key': 'nowhere.p8' }, 'nowhere.p8 does not exist.'],
  ['a folder', { 'connect-key': 'got' }, 'got is a folder.'],
  ['no key id', { 'connect-key-id': 'key one' }, 'key one is not a key id'],
  ['no issuer id', { issuer: 'acme' }, 'acme is not an issuer id'],
  ['another key’s id', { 'connect-key-id': 'CNCT4K7W2X' }, 'Apple refused the key (401)'],
  [
    'another team’s issuer id',
    { issuer: '69a6de70-03db-47e3-e053-5b8c7c11a4d1' },
    'Apple refused the key (401)',
  ],
  ['no vendor number', { vendor: 'Acme' }, 'Acme is not a vendor number'],
  ['a wrong vendor number', { vendor: `${VENDOR},80000001` }, '80000001: Apple rejected the request'],
  [
    'the same key twice',
    { 'purchase-key': 'got/AuthKey_CNCT4K7W2Q.p8' },
    'this is the App Store Connect API key again',
  ],
  ['no purchase issuer', { issuer: 'none', 'purchase-issuer': 'none' }, 'requires its issuer id'],
  ['another purchase key id', { 'purchase-key-id': 'PRCH9M3X5X' }, 'Apple refused the key (401)'],
] as const)('%s is refused with the reason, and nothing is written', async (_, wrong, words) => {
  const folder = openKeyFolder(opened)
  const { refusal } = await folder.connect({ flags: { ...folder.flags, ...wrong } })
  expect(refusal).toContain(words)
  expect(refusal).toContain('Nothing was written.')
  expectNothingWritten(folder)
})

test.each(NO_KEYS)(
  'refuses a file that is not an Apple key (%s) without printing its content',
  async (name, pem) => {
    const folder = openKeyFolder(opened)
    const file = folder.write(`got/${name}_ABCDE12345.p8`, pem)
    const { text, refusal } = await folder.connect({ flags: { ...folder.flags, 'connect-key': file } })
    expect(refusal).toContain(file)
    expect(text + refusal).not.toContain('hunter2')
    expectNothingWritten(folder)
  },
)

test('recognizes an In-App Purchase key in place of the App Store Connect API key', async () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', `[[apps]]\nbundle_id = "${TIDES}"\n`)
  const wrong = {
    ...folder.flags,
    'connect-key': folder.flags['purchase-key'] ?? '',
    'purchase-key': folder.flags['connect-key'] ?? '',
  }
  expect((await folder.connect({ flags: wrong })).refusal).toContain(
    'accepts it as an In-App Purchase key: the two keys are swapped',
  )
  expect(textOf(folder)).toBe(`[[apps]]\nbundle_id = "${TIDES}"\n`)
})

test.each([
  [
    'a role without reports',
    { connect_key: 'developer' },
    'to read sales reports the key needs the role Admin, Finance or Sales',
  ],
  ['a role without apps', { forbidden: ['/v1/apps'] }, 'to list apps the key needs the role'],
  [
    'an agreement that is missing',
    { missing_agreement: true },
    'the Account Holder must accept the latest agreements',
  ],
  ['a revoked key', { connect_key: 'revoked' }, 'Apple refused the key (401)'],
  ['a revoked In-App Purchase key', { purchase_key: 'revoked' }, 'check that it is an In-App Purchase key'],
  ['App Store Connect unavailable', { unavailable_requests: 1_000 }, 'is unavailable'],
] as const)('%s is told in Apple’s terms and ours', async (_, faults, words) => {
  const folder = openKeyFolder(opened)
  Object.assign(store.faults, faults)
  expect((await folder.connect()).refusal).toContain(words)
  expectNothingWritten(folder)
})

test('accepts an app that only the sandbox knows, and reports an unknown app', async () => {
  const folder = openKeyFolder(opened)
  const unknown = JSON.stringify({ errorCode: 4_040_003, errorMessage: 'App not found.' })
  let stranger = ''
  const knowsNothing = createServer(({ headers }, answer) => {
    const claims = Buffer.from(headers.authorization?.split('.')[1] ?? '', 'base64url').toString()
    if (claims.includes(`"bid":"${stranger}`)) answer.writeHead(404).end(unknown)
    else answer.writeHead(200).end('{"notificationHistory":[],"hasMore":false}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void knowsNothing.close())
  await new Promise((resolve) => knowsNothing.once('listening', resolve))
  const address = knowsNothing.address()
  const nowhere = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const { sandbox } = store.hosts.server
  const hosts = (last: string) => ({ ...store.hosts, server: { production: nowhere, sandbox: last } })
  expect((await folder.connect({ hosts: hosts(nowhere) })).refusal).toContain(
    'Apple does not know the app. Check the bundle id',
  )
  expectNothingWritten(folder)
  expect((await folder.connect({ hosts: hosts(sandbox) })).refusal).toBeNull()
  stranger = TIDES
  expect((await openKeyFolder(opened).connect({ hosts: hosts(nowhere) })).refusal).toBeNull()
})

test('reports a wrong clock as the reason', async () => {
  const folder = openKeyFolder(opened)
  const { refusal } = await folder.connect({ clock: () => clock() - 3_600_000 })
  expect(refusal).toContain('This machine’s clock is 60 min behind Apple’s')
})

test('a refused answer can be replaced, kept or abandoned', async () => {
  const folder = openKeyFolder(opened)
  const first = ['got/AuthKey_CNCT4K7W2Q.p8', '', ISSUER]
  const stopped = await folder.connect({ lines: [...first, '80000001', 'n', 'n'] })
  expect(stopped.text).toContain('check the vendor number')
  expect(stopped.refusal).toBe('Nothing was written.')
  const declined = await folder.connect({ lines: [...first, '80000001', 'y', VENDOR, 'none', 'n'] })
  expect(declined.refusal).toBe('Nothing was written.')
  const ended = await folder.connect({ lines: first })
  expect(ended.refusal).toBe('stopped before the end\nNothing was written.')
  expectNothingWritten(folder)
  const kept = await folder.connect({ lines: [...first, '80000001', 'n', 'y', 'none', 'what?', 'yes'] })
  expect(kept.refusal).toBeNull()
  expect(folder.load().config.accounts).toMatchObject([{ vendor_numbers: ['80000001'] }])
})

test('what this machine can tell is told before Apple is asked, all of it at once', async () => {
  const folder = openKeyFolder(opened)
  const requestsBefore = store.requests.length
  const flags = {
    ...folder.flags,
    'purchase-key': 'nowhere.p8',
    vendor: `${VENDOR},Acme`,
    'connect-key-id': 'x',
  }
  const { refusal } = await folder.connect({ flags })
  expect(refusal?.split('\n')).toEqual([
    `${folder.path}/nowhere.p8 does not exist.`,
    'x is not a key id such as 2X9R4HXF34.',
    'Acme is not a vendor number such as 80012345, which contains only digits.',
    'Nothing was written.',
  ])
  const talked = await folder.connect({ flags: { 'connect-key': 'nowhere.p8' }, lines: ['y'] })
  expect(talked.text).toBe('')
  expect(talked.refusal).toContain('nowhere.p8 does not exist.')
  expect(store.requests).toHaveLength(requestsBefore)
  expectNothingWritten(folder)
})

test('accepts a value instead of yes, and checks a key id immediately', async () => {
  const folder = openKeyFolder(opened)
  const { text, refusal } = await folder.connect({
    lines: [
      'nowhere.p8',
      'what?',
      'got/AuthKey_CNCT4K7W2Q.p8',
      'x',
      'y',
      '',
      'acme',
      'y',
      ISSUER,
      'Acme',
      VENDOR,
      'none',
      'y',
    ],
  })
  expect(refusal).toBeNull()
  expect(text).toContain('Please answer y or n, or enter the value.')
  expect(text.indexOf('x is not a key id')).toBeLessThan(text.indexOf('Issuer id'))
  expect(text.indexOf('acme is not an issuer id')).toBeLessThan(text.indexOf('Testing with Apple'))
  expect(text.match(/Vendor number, from/g)).toHaveLength(1)
  expect(folder.load().config.accounts).toMatchObject([{ vendor_numbers: [VENDOR] }])
})

test('a key whose role is wrong is asked for anew, not its vendor number', async () => {
  const folder = openKeyFolder(opened)
  store.faults.connect_key = 'developer'
  const key = ['got/AuthKey_CNCT4K7W2Q.p8', '', ISSUER]
  const { text } = await folder.connect({ lines: [...key, VENDOR, 'y', ...key, VENDOR, 'n', 'n'] })
  expect(text.match(/Key file/g)).toHaveLength(2)
  expectNothingWritten(folder)
})

test('refuses to write accounts that the environment overrides', async () => {
  const folder = openKeyFolder(opened)
  const env = {
    WINDFALL_ACCOUNTS_0_CONNECT_KEY_ID: 'CNCT4K7W2Q',
    WINDFALL_ACCOUNTS_0_CONNECT_KEY: store.connect_key.private_key,
  }
  expect((await folder.connect({ env })).refusal).toContain('the environment sets accounts[0]')
  expectNothingWritten(folder)
})

test('leaves a config file that it cannot edit unchanged, and prints the lines to add', async () => {
  const folder = openKeyFolder(opened)
  const before = 'accounts = [{ issuer_id = "69a6de70-03db-47e3-e053-5b8c7c11a4d1" }]\n'
  folder.write('config.toml', before)
  const { refusal } = await folder.connect()
  expect(refusal).toContain('Add these lines by hand:\n  [[accounts]]\n')
  expect(refusal).toContain('  connect_key_file = "keys/AuthKey_CNCT4K7W2Q.p8"')
  expect(textOf(folder)).toBe(before)
  expect(existsSync(join(folder.path, 'keys'))).toBe(false)
})

test('a running server reloads the keys, and a test notification is followed until it arrives', async () => {
  const folder = openKeyFolder(opened)
  const app = await folder.startServing()
  const { text, refusal } = await folder.connect()
  expect(refusal).toBeNull()
  expect(text).toContain('✓ The running server uses the new settings.')
  expect(text).toContain(`✓ ${TIDES}, production: a test notification arrived`)
  expect(text).toContain('✓ com.lanternlabs.chord, sandbox: a test notification arrived')
  expect(text).toContain('The import of the past year has started.')
  const tests = app.feed(['notification.test'])
  expect(tests).toHaveLength(6)
  expect(app.windfall.apps.list().map(({ source }) => source)).toEqual(['apple', 'apple', 'apple'])
  expect(app.windfall.accounts.list()).toMatchObject([{ vendor_numbers: [VENDOR] }])
})

test.each([
  [{ notification_url: null }, '✗ com.lanternlabs.tides, production: Apple did not find the resource'],
  [{ test_result: 'TLS_ISSUE' }, '(TLS_ISSUE): Apple does not accept the TLS connection.'],
  [{ test_result: 'TIMED_OUT' }, '(TIMED_OUT): the server did not answer in time'],
  [{ test_result: 'A_NEW_WORD' }, '(A_NEW_WORD): Apple gives no details.'],
  [{ test_result: 'SUCCESS' }, 'but not to this server'],
] as const)(
  'a test notification that does not arrive (%j) is told in Apple’s words',
  async (faults, words) => {
    const folder = openKeyFolder(opened)
    await folder.startServing()
    Object.assign(store.faults, faults)
    const { text, refusal } = await folder.connect()
    expect(refusal).toBeNull()
    expect(text).toContain(words)
  },
)

test('sends no test notification if declined', async () => {
  const folder = openKeyFolder(opened)
  await folder.startServing()
  const requestsBefore = store.requests.length
  expect((await folder.connect({ test: false })).refusal).toBeNull()
  const { text } = await folder.connect({ lines: ['', '', '', '', 'n'] })
  expect(text).toContain('Run `npm run -s windfall -- doctor --test` later')
  expect(store.requests.slice(requestsBefore).filter(({ path }) => path.endsWith('/test'))).toEqual([])
})

test('reports a running server with another config file', async () => {
  const folder = openKeyFolder(opened)
  await folder.startServing()
  folder.write('other.toml', `[store]\npath = "${folder.path}/data/windfall.db"\n`)
  const { refusal } = await folder.connect({ config: 'other.toml' })
  expect(refusal).toContain('check whether it uses another config file')
  expect(textOf(folder, 'other.toml')).toContain(ACCOUNT)
})

test('a running Windfall that cannot take it over says why', async () => {
  const folder = openKeyFolder(opened)
  await folder.startServing()
  const twice = '[[organizations]]\nslug = "acme"\npublishable_key = "pk_live_abcdefghijklmnopqrstuvwx"\n'
  folder.write('config.toml', twice)
  expect((await folder.connect()).refusal).toBeNull()
  folder.write('config.toml', `[[organizations]]\nslug = "acme"\n${twice.replace('acme', 'other')}`)
  const { text, refusal } = await folder.connect({ flags: { ...folder.flags, organization: 'other' } })
  expect(text).toContain('✓ Written.')
  expect(refusal).toContain('belongs to the organization acme')
})

test('where the keys cannot be put it is said, and config.toml stays as it was', async () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', '# mine\n')
  folder.write('keys', 'a file in the way')
  expect((await folder.connect()).refusal).toContain('keys')
  expect(textOf(folder)).toBe('# mine\n')
})
