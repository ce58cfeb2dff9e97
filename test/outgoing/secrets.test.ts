import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verbsOf } from '../../src/control/verbs.ts'
import { restore } from '../../src/store/backup/restore.ts'
import { temporaryFolder } from '../folders.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { runs } from '../random.ts'

const HERE = { table: 'endpoints', row: 'end_1', column: 'secret' }
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const seal = ({ windfall: { store, outgoing } }: TestApp, text = SECRET): Promise<string> =>
  store.commit(() => outgoing.secrets.seal(text, HERE))
const keyFile = (app: TestApp): string => join(app.folder, 'data/windfall.key')
const stateOf = (app: TestApp): string => app.windfall.outgoing.secrets.state().state
const keyFinding = async ({ windfall }: TestApp) =>
  (await windfall.health.findings()).find(({ details }) => details?.id === 'outgoing:key')

test('the first secret creates the key file, which only its owner can read', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  expect(stateOf(app)).toBe('unused')
  expect(existsSync(keyFile(app))).toBe(false)
  const sealed = await seal(app)
  expect(statSync(keyFile(app)).mode & 0o777).toBe(0o600)
  expect(stateOf(app)).toBe('ready')
  expect(app.windfall.outgoing.secrets.open(sealed, HERE)).toBe(SECRET)
  expect(sealed).not.toContain(SECRET)
  expect(await seal(app)).not.toBe(sealed)
})

test('any text opens at its location, and nowhere else', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const { secrets } = app.windfall.outgoing
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  const location = fc.record({ table: text, row: text, column: text })
  const property = fc.asyncProperty(text, location, location, async (secret, where, other) => {
    const sealed = await app.windfall.store.commit(() => secrets.seal(secret, where))
    expect(secrets.open(sealed, where)).toBe(Buffer.from(secret).toString())
    const isSame = JSON.stringify(where) === JSON.stringify(other)
    if (!isSame) expect(() => secrets.open(sealed, other)).toThrow('belongs to another row')
  })
  await fc.assert(property, runs(100, 5_000))
})

test('a changed ciphertext does not open', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const { secrets } = app.windfall.outgoing
  const sealed = await seal(app)
  const [version, id, text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => secrets.open(`${version}.${id}.${changed.toString('base64url')}`, HERE)).toThrow(
      'the secret was changed',
    )
  }
  for (const wrong of [
    '',
    'v1',
    sealed.replace('v1', 'v2'),
    `v1.${id}.`,
    `v1.${id}.AAAA`,
    `v1.${'0'.repeat(16)}.${text}`,
  ])
    expect(() => secrets.open(wrong, HERE)).toThrow()
})

test('a missing key is reported, never replaced in silence, and works again when it is back', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const sealed = await seal(app)
  await app.close()
  renameSync(keyFile(app), `${keyFile(app)}.lost`)
  const again = await openTestApp({ folder: app.folder, apps: [] })
  expect(stateOf(again)).toBe('missing')
  expect(await keyFinding(again)).toMatchObject({ state: 'fault' })
  expect(() => again.windfall.outgoing.secrets.open(sealed, HERE)).toThrow('does not exist')
  await expect(seal(again)).rejects.toMatchObject({ status: 409, code: 'key_unreadable' })
  expect(existsSync(keyFile(again))).toBe(false)
  renameSync(`${keyFile(app)}.lost`, keyFile(app))
  expect(await keyFinding(again)).toBeUndefined()
  expect(again.windfall.outgoing.secrets.open(sealed, HERE)).toBe(SECRET)
})

test.each([
  ['another key', `${Buffer.alloc(32, 7).toString('base64')}\n`, 'different'],
  ['an empty file', '', 'invalid'],
  ['a short key', 'AAAA\n', 'invalid'],
] as const)('%s is reported and seals nothing', async (_, text, state) => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const sealed = await seal(app)
  await app.close()
  writeFileSync(keyFile(app), text)
  const again = await openTestApp({ folder: app.folder, apps: [] })
  expect(stateOf(again)).toBe(state)
  expect(() => again.windfall.outgoing.secrets.open(sealed, HERE)).toThrow(keyFile(again))
  await expect(seal(again)).rejects.toMatchObject({ code: 'key_unreadable' })
  expect(readFileSync(keyFile(again), 'utf8')).toBe(text)
})

test('the owner accepts a new key; earlier secrets stay unreadable', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const sealed = await seal(app)
  await app.close()
  rmSync(keyFile(app))
  const again = await openTestApp({ folder: app.folder, apps: [] })
  expect(await verbsOf(again.windfall)['outgoing.new_key']?.({})).toMatchObject({ state: 'ready' })
  expect(() => again.windfall.outgoing.secrets.open(sealed, HERE)).toThrow('sealed with another key')
  const renewed = await seal(again)
  expect(again.windfall.outgoing.secrets.open(renewed, HERE)).toBe(SECRET)
})

test('a failed unit of work leaves a key file that the next secret uses', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const { store, outgoing } = app.windfall
  const failing = store.commit(() => {
    outgoing.secrets.seal(SECRET, HERE)
    throw new Error('the work failed')
  })
  await expect(failing).rejects.toThrow('the work failed')
  expect(stateOf(app)).toBe('unused')
  const text = readFileSync(keyFile(app), 'utf8')
  const sealed = await seal(app)
  expect(readFileSync(keyFile(app), 'utf8')).toBe(text)
  expect(outgoing.secrets.open(sealed, HERE)).toBe(SECRET)
})

const restoreInto = (backup: string, folder: string, app: TestApp) =>
  restore({ backup, key: null, database: null, folder, allowsAbsolutePath: true, clock: app.clock })

test('a backup contains the key, and a restore puts it beside the database', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const sealed = await seal(app)
  const { files } = await app.windfall.backups.backup(`${app.folder}/backup.tar`, null)
  expect(files).toContain('data/windfall.key')
  const { path: other } = temporaryFolder()
  await restoreInto(`${app.folder}/backup.tar`, other, app)
  const restored = await openTestApp({ folder: other, apps: [] })
  expect(restored.windfall.outgoing.secrets.open(sealed, HERE)).toBe(SECRET)
})

test('a restore moves a different key aside with its database', async () => {
  const app = await openTestApp({ folder: temporaryFolder().path })
  const sealed = await seal(app)
  await app.windfall.backups.backup(`${app.folder}/backup.tar`, null)
  const { path: other } = temporaryFolder()
  mkdirSync(join(other, 'data'))
  const replaced = await openTestApp({ folder: other })
  await seal(replaced)
  await replaced.close()
  const key = readFileSync(keyFile(replaced), 'utf8')
  cpSync(`${app.folder}/backup.tar`, `${other}/backup.tar`)
  const { placed } = await restoreInto(`${other}/backup.tar`, other, app)
  expect(placed).toContainEqual({
    file: keyFile(replaced),
    state: 'swapped',
    originalPath: null,
    aside: `${keyFile(replaced)}.replaced-1`,
  })
  expect(readFileSync(`${keyFile(replaced)}.replaced-1`, 'utf8')).toBe(key)
  const restored = await openTestApp({ folder: other, apps: [] })
  expect(restored.windfall.outgoing.secrets.open(sealed, HERE)).toBe(SECRET)
})
