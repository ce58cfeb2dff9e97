/** The command `windfall support` on an installation with every kind of secret and of user data. */
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unpackTar } from 'modern-tar'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { openControl, verb } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { schema, versionOf } from '../../../src/store/schema/schema.ts'
import { BUNDLE, renewedPayload, transactionPayload } from '../../apple/samples.ts'
import { closedAtEnd } from '../../closing.ts'
import { openFolder } from '../../config/folder.ts'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import { expectErrorsInFile } from '../../guards/error_lines.ts'
import { nonEmpty } from '../../non_empty.ts'
import { folderOf, run } from '../../processes.ts'
import { formsIn } from '../../stored_secrets.ts'

expectErrorsInFile('a job failed')

const PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

/** What the owner writes into config.toml and nobody else may read. */
const CONFIGURED = {
  secret_key: 'sk_live_0configured0secret0key0000',
  publishable_key: 'pk_live_0configured0publishable000',
  issuer_id: '69a6de70-03db-47e3-e053-5b8c7c11a4d1',
  vendor_number: '80012345',
  connect_key_id: '2X9R4HXF34',
  purchase_key_id: 'ABCDE12345',
  signing: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
  header: 'Bearer configured-header-value',
  path: 'configured-path-token',
  recipient: 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
}

const configText = (url: string): string => `
[backup]
recipients = ["${CONFIGURED.recipient}"]

[outbound]
allow = ["127.0.0.1"]

[[organizations]]
slug = "default"
publishable_key = "${CONFIGURED.publishable_key}"
secret_key = "${CONFIGURED.secret_key}"

[[accounts]]
issuer_id = "${CONFIGURED.issuer_id}"
vendor_numbers = ["${CONFIGURED.vendor_number}"]
connect_key_id = "${CONFIGURED.connect_key_id}"
connect_key = """${PEM}"""
purchase_key_id = "${CONFIGURED.purchase_key_id}"
purchase_key = """${PEM}"""

[[endpoints]]
name = "declared"
url = "${url}/${CONFIGURED.path}?key=${CONFIGURED.path}"
headers = { authorization = "${CONFIGURED.header}" }
secrets = ["${CONFIGURED.signing}"]
`

/** What clients and the dashboard send. */
const SENT = {
  user: 'jane.doe+1@customer.example',
  other_user: 'user-7f3a',
  attribute: 'favourite_colour',
  value: 'ultramarine blue',
  purchase_token: 'play-token-of-a-purchase',
  url_token: 'dashboard-endpoint-token',
  label: 'Laptop of Jane',
  user_agent: 'JaneBrowser/1.0',
  password: 'correct horse battery',
  refused: 'user-sent-as-bundle-id',
  host: 'user-jane.attacker.example',
}

const PASSWORD_HASH = 'hash-of-the-owner-password'

async function openSeeded() {
  const folder = openFolder()
  const receiver = await openHttpReceiver(() => 500)
  folder.write('config.toml', configText(new URL(receiver.url).origin))
  const env = { WINDFALL_BASE_URL: 'http://127.0.0.1:1', WINDFALL_RATES_FETCH: 'false' }
  const app = await openForwardingApp({ folder: folder.path, env })
  const { store } = app.windfall
  const key = await app.key('secret')
  const bearer = { authorization: `Bearer ${key}` }
  const attributes = { [SENT.attribute]: SENT.value }
  const identify = { appUserId: SENT.user, bundleId: BUNDLE, attributes }
  expect((await app.post('/api/sdk/v1/identify', identify, bearer)).status).toBe(200)
  const jws = app.authority.sign(transactionPayload())
  const { originalTransactionId } = transactionPayload() as { originalTransactionId: string }
  const attribute = { appUserId: SENT.user, bundleId: BUNDLE, originalTransactionId, jws }
  expect((await app.post('/api/sdk/v1/attribute', attribute, bearer)).status).toBe(200)
  const play = { appUserId: SENT.other_user, bundleId: BUNDLE, platform: 'android' }
  const token = { ...play, originalTransactionId: SENT.purchase_token }
  expect((await app.post('/api/sdk/v1/attribute', token, bearer)).status).toBe(200)
  expect((await app.notify(renewedPayload(app.authority))).status).toBe(200)
  for (const body of [
    { appUserId: SENT.other_user, bundleId: SENT.refused },
    { ...identify, attributes: { [SENT.value]: [SENT.other_user] } },
    { appUserId: ` ${SENT.user}`, bundleId: BUNDLE },
  ])
    expect((await app.post('/api/sdk/v1/identify', body)).status).toBeGreaterThanOrEqual(400)
  await app.windfall.refusedCalls.flush()
  const owner = await app.signIn()
  const read_token = await app.token()
  const share = await app.post('/api/v1/share-links', { label: SENT.label, basis: 'gross' }, owner)
  const added = await app.addEndpoint(`${receiver.url}/${SENT.url_token}?key=${SENT.url_token}`, {
    name: 'backend',
    headers: { 'x-key': SENT.url_token },
  })
  await store.commit(() => app.windfall.owner.setPassword(PASSWORD_HASH))
  await app.append(1, { subject: SENT.user })
  await app.run(3_600_000)
  for (const job of ['backup', 'housekeeping', 'import', 'backfill']) await app.windfall.jobs.runNow(job)
  const { path } = app.config.store
  const status = verb(v.object({}), () => ({ address: 'http://127.0.0.1:1', base_url: 'http://127.0.0.1:1' }))
  const verbs = { ...verbsOf(app.windfall), 'instance.status': status }
  closedAtEnd(await openControl(path, verbs, app.windfall.log))
  const made = [key, owner.cookie.slice('windfall='.length), read_token, JSON.stringify(share.body.url ?? '')]
  return { app, folder, env, jws, made, secret: added.secret, originalTransactionId }
}

/** Every value of these columns of the database. */
const COLUMNS: readonly (readonly [table: string, column: string])[] = [
  ['users', 'app_user_id'],
  ['users', 'attributes'],
  ['users', 'proved_attributes'],
  ['settings', "iif(key = 'clock_checked_at', null, value)"],
  ['sdk_keys', 'token'],
  ['sdk_keys', 'hash'],
  ['api_tokens', 'hash'],
  ['share_links', 'hash'],
  ['sessions', 'hash'],
  ['links', 'transaction_id'],
  ['transactions', 'transaction_id'],
  ['notifications', 'uuid'],
  ['endpoint_secrets', 'sealed'],
  ['endpoints', 'headers'],
]

type Bundle = { header: { name: string; mode?: number | undefined }; data?: Uint8Array | undefined }[]
const textOf = (bundle: Bundle, name: string): string =>
  Buffer.from(bundle.find(({ header }) => header.name === name)?.data ?? []).toString()

test('a support bundle has what a report needs, and no secret, key, token, user id or attribute', async () => {
  const { app, folder, env, jws, made, secret, originalTransactionId } = await openSeeded()
  const { status, stdout, stderr } = await run(['support', 'bundle.tar'], { cwd: folder.path, env })
  expect(status).toBe(0)
  // On a slow machine the progress of the checks follows.
  expect(stderr).toMatch(/^Running the checks …\n/)
  const file = join(folder.path, 'bundle.tar')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const bundle: Bundle = await unpackTar(readFileSync(file))
  const names = bundle.map(({ header }) => header.name)
  const subjects = ['version', 'configuration', 'doctor', 'database', 'jobs', 'findings', 'process']
  expect(names).toEqual(subjects.map((subject) => `${subject}.json`))
  for (const name of names) expect(stdout).toContain(name)
  expect(stdout).toContain(`Wrote ${file} `)

  const doctor = JSON.parse(textOf(bundle, 'doctor.json')) as { id: string; detail: string }[]
  expect(doctor.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['disk', 'pragmas', 'sdk_calls:1', 'keys:connect:default']),
  )
  expect(JSON.parse(textOf(bundle, 'database.json'))).toMatchObject({
    pragmas: { user_version: versionOf(schema), journal_mode: 'wal' },
    rows: { users: 1, links: 2, endpoints: 2 },
  })
  const endpoint = expect.objectContaining({ path: 'endpoints[0].secrets', value: '(masked)' })
  expect(JSON.parse(textOf(bundle, 'configuration.json'))).toEqual(expect.arrayContaining([endpoint]))
  expect(textOf(bundle, 'jobs.json')).toContain('"housekeeping"')
  expect(JSON.parse(textOf(bundle, 'process.json')).server.memory.rss).toBeGreaterThan(0)

  const stored = nonEmpty(COLUMNS).flatMap(([table, column]) =>
    app.windfall.store
      .prepare<[], { value: unknown }>(`select ${column} as value from ${table} where ${column} is not null`)
      .all()
      .map(({ value }) => (Buffer.isBuffer(value) ? value : String(value))),
  )
  // Shorter texts, such as the type of a row, also occur in the bundle.
  const long = stored.filter(({ length }) => length >= 6)
  const others = [jws, secret ?? '', originalTransactionId, PEM, PEM.split('\n')[1] ?? '', PASSWORD_HASH]
  const values = [...Object.values(CONFIGURED), ...Object.values(SENT), ...made, ...others, ...long].filter(
    ({ length }) => length >= 4,
  )
  const text = bundle.map(({ data }) => Buffer.from(data ?? []).toString('latin1')).join('\n')
  expect(formsIn(text, values)).toEqual([])
  // The search finds what is there.
  expect(formsIn(text, [BUNDLE])).toEqual([BUNDLE])
})

test('a bundle never overwrites a file', async () => {
  const cwd = folderOf({ 'b.tar': 'mine' })
  const file = join(cwd, 'b.tar')
  const refused = await run(['support', 'b.tar'], { cwd })
  expect(refused).toMatchObject({ status: 1, stderr: `${file} exists; name another file\n` })
  expect(readFileSync(file, 'utf8')).toBe('mine')
})
