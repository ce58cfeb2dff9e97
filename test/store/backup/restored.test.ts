import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { restore } from '../../../src/store/backup/restore.ts'
import { BUNDLE, NOW } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../../helpers.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)

/** Paths with parameters, which are read in addition to the routes without parameters. */
const FURTHER = [
  '/api/v1/metrics/mrr?from=2026-04-01&to=2026-05-31&split=product',
  '/api/v1/metrics/revenue.csv?from=2026-04-01&to=2026-05-31&interval=week',
  '/api/v1/customers?limit=100&sort=ltv',
  '/api/v1/events?limit=1000',
]
/** Routes whose response depends on the process or the current time. */
const OF_NOW = new Set(['/api/v1/status', '/api/v1/events/stream', '/api/v1/jobs', '/readyz', '/healthz'])

/** Restores a backup into a folder that has no configuration. */
const restored = (backup: string, folder: string, now = NOW) =>
  restore({ backup, key: null, database: null, folder, allowsAbsolutePath: true, clock: () => now })

async function answersOf(app: TestApp, token: string): Promise<Record<string, string>> {
  const paths = app.windfall.http
    .routes()
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/v1') && !path.includes(':'))
    .map(({ path }) => path)
    .filter((path) => !OF_NOW.has(path.replace(/\.csv$/, '')))
  const answers: Record<string, string> = {}
  for (const path of [...paths, ...FURTHER]) {
    const answer = await app.request(path, { headers: { authorization: `Bearer ${token}` } })
    answers[path] = `${answer.status} ${await answer.text()}`
  }
  return answers
}

test('returns the same results after a restore to another place', async () => {
  const authority = await sharedAuthority()
  const from = UNTIL - 90 * DAY
  const simulation = openSimulation({
    seed: 9,
    from,
    until: UNTIL,
    subscribers: 15,
    edgeCases: true,
    authority,
  })
  const clock = handClock(from)
  const app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  clock.set(UNTIL)
  const { metrics, backups } = app.windfall
  const token = await app.token()
  await metrics.whenCurrent()
  const { path: folder } = temporaryFolder()
  await backups.backup(`${folder}/backup.tar`, null)
  const before = await answersOf(app, token)
  await app.close()
  await restored(`${folder}/backup.tar`, folder)
  const again = await openTestApp({ clock, folder, apps: [] })
  expect(await answersOf(again, token)).toEqual(before)
  expect(Object.values(before).filter((answer) => answer.startsWith('200')).length).toBeGreaterThan(10)
})

const claim = (app: TestApp, appUserId: string) =>
  app.post('/api/sdk/v1/attribute', {
    appUserId,
    bundleId: BUNDLE,
    originalTransactionId: '2000000000000001',
  })

test.each(['in its place', 'on another machine'])(
  'does not reuse numbers of events or links after a restore %s',
  async (where) => {
    const { path: folder } = temporaryFolder()
    const app = await openTestApp({ folder })
    await claim(app, 'first')
    await app.windfall.backups.backup(`${folder}/backup.tar`, null)
    // A receiver gets these events, and the restore loses them.
    await claim(app, 'lost')
    await claim(app, 'first')
    const heard = app.feed()
    await app.close()
    const { path: other } = temporaryFolder()
    copyFileSync(`${folder}/backup.tar`, `${other}/backup.tar`)
    const home = where === 'in its place' ? folder : other
    await restored(`${home}/backup.tar`, home)
    const again = await openTestApp({ folder: home, apps: [] })
    const before = again.feed().length
    expect((await claim(again, 'second')).body).toMatchObject({ moved: true })
    await again.post('/api/sdk/v1/attribute', {
      appUserId: 'third',
      bundleId: BUNDLE,
      originalTransactionId: '2000000000000002',
    })
    const since = again.feed().slice(before)
    expect(since.map(({ type }) => type)).toEqual(['customer.moved', 'customer.linked'])
    const known = new Set(heard.map(({ id }) => id))
    expect(since.filter(({ id }) => known.has(id))).toEqual([])
    expect(Math.min(...since.map(({ seq }) => seq))).toBeGreaterThan(Math.max(...heard.map(({ seq }) => seq)))
    await again.close()
  },
)

test('does not treat a new database as the lost one', async () => {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  await claim(app, 'first')
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await app.close()
  const { path: fresh } = temporaryFolder()
  mkdirSync(`${fresh}/data`)
  await (await openTestApp({ folder: fresh })).close()
  await restored(`${folder}/backup.tar`, fresh)
  const again = await openTestApp({ folder: fresh, apps: [] })
  await claim(again, 'second')
  expect(again.feed().at(-1)?.seq).toBeGreaterThan(1_000_000)
})

test('what the server of the backup uploaded does not belong to the restored one', async () => {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  const { store, backups } = app.windfall
  const insert = store.prepare<[]>("insert into settings (key, value) values ('backup_uploads', '{}')")
  await store.commit(() => void insert.run())
  const file = join(folder, 'backup.tar')
  await backups.backup(file, null)
  await app.close()
  const { path: there } = temporaryFolder()
  await restored(file, there)
  const again = await openTestApp({ folder: there, apps: [] })
  const uploads = again.windfall.store.prepare("select value from settings where key = 'backup_uploads'")
  expect(uploads.all()).toEqual([])
})

test('two restores of one backup use different numbers', async () => {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  await claim(app, 'first')
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await app.close()
  const seqsOf = async (now: number) => {
    const { path: home } = temporaryFolder()
    await restored(`${folder}/backup.tar`, home, now)
    const again = await openTestApp({ folder: home, apps: [] })
    const before = again.feed().length
    for (let n = 0; n < 20; n += 1) await claim(again, `user-${n}`)
    const seqs = again.feed().slice(before)
    await again.close()
    return seqs.map(({ seq, id }) => [seq, id])
  }
  const first = new Set((await seqsOf(NOW + DAY)).flat())
  expect((await seqsOf(NOW + DAY + 60_000)).flat().filter((one) => first.has(one))).toEqual([])
})

test('does not reuse numbers when an older backup replaces an unrelated newer database', async () => {
  const { path: folder } = temporaryFolder()
  let app = await openTestApp({ folder })
  await claim(app, 'first')
  await app.windfall.backups.backup(`${folder}/one.tar`, null)
  await claim(app, 'second')
  await app.windfall.backups.backup(`${folder}/two.tar`, null)
  await app.close()
  rmSync(`${folder}/data`, { recursive: true })
  await restored(`${folder}/one.tar`, folder)
  app = await openTestApp({ folder, apps: [] })
  await claim(app, 'other')
  const given = app.feed().map(({ seq }) => seq)
  await app.close()
  await restored(`${folder}/two.tar`, folder)
  app = await openTestApp({ folder, apps: [] })
  await claim(app, 'last')
  expect(app.feed().at(-1)?.seq).toBeGreaterThan(Math.max(...given))
})

test('restores over a damaged database with unknown sequences', async () => {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  await claim(app, 'first')
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  const file = app.windfall.store.file
  const root = Number(
    app.windfall.store
      .prepare("select rootpage from sqlite_schema where name = 'sqlite_sequence'")
      .pluck()
      .get(),
  )
  await app.close()
  const bytes = readFileSync(file)
  bytes.fill(0x5a, (root - 1) * 4096, root * 4096)
  writeFileSync(file, bytes)
  await restored(`${folder}/backup.tar`, folder)
  const again = await openTestApp({ folder, apps: [] })
  await claim(again, 'second')
  expect(again.feed().at(-1)?.seq).toBeGreaterThan(1_000_000)
})

test('looks for the log next to the file, not next to a symbolic link', async () => {
  const { path: folder } = temporaryFolder()
  mkdirSync(`${folder}/data`)
  mkdirSync(`${folder}/disk`)
  symlinkSync('../disk/real.db', `${folder}/data/windfall.db`)
  const app = await openTestApp({ folder })
  await claim(app, 'first')
  const { file } = await app.windfall.store.copy(`${folder}/copy.db`)
  copyFileSync(`${folder}/disk/real.db-wal`, `${folder}/kept-wal`)
  await app.close()
  copyFileSync(file, `${folder}/disk/real.db`)
  copyFileSync(`${folder}/kept-wal`, `${folder}/disk/real.db-wal`)
  await expect(openTestApp({ folder, apps: [] })).rejects.toMatchObject({ code: 'foreign_log' })
})

test('restores to an absolute path only if nothing exists there, with its configuration', async () => {
  const { path: folder } = temporaryFolder()
  const { path: disk } = temporaryFolder()
  const path = `${disk}/w.db`
  writeFileSync(`${folder}/config.toml`, `[store]\npath = "${path}"\n`, { mode: 0o600 })
  const app = await openTestApp({ folder })
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await app.close()
  const { path: home } = temporaryFolder()
  const wanted = { backup: `${folder}/backup.tar`, key: null, database: null, folder: home, clock: () => NOW }
  const drill = await restore({ ...wanted, allowsAbsolutePath: false })
  expect(drill).toMatchObject({ database: `${home}/data/windfall.db`, originalPath: path })
  expect(readdirSync(home).sort()).toEqual(['config.toml.restored', 'data'])
  rmSync(path)
  const real = await restore({ ...wanted, folder: temporaryFolder().path, allowsAbsolutePath: true })
  expect(real).toMatchObject({ database: path, originalPath: null })
})

/** A folder on another file system than the temporary ones; null if this machine has none. */
function folderElsewhere(): string | null {
  const { dev } = statSync(tmpdir())
  const [root] = ['/dev/shm', '/tmp', '/var/tmp'].filter(
    (path) => existsSync(path) && statSync(path).dev !== dev,
  )
  return root === undefined ? null : mkdtempSync(join(root, 'windfall-'))
}

test('a restore to another file system that fails leaves no copy there', async ({ skip }) => {
  const elsewhere = folderElsewhere() ?? skip('this machine has one file system for temporary files')
  onTestFinished(() => rmSync(elsewhere, { recursive: true }))
  const { path: folder } = temporaryFolder()
  const path = join(elsewhere, 'w.db')
  const app = await openTestApp({ env: { WINDFALL_STORE_PATH: path } })
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await app.close()
  for (const name of readdirSync(elsewhere)) rmSync(join(elsewhere, name), { recursive: true })
  mkdirSync(`${path}.swapping.partial`)
  await expect(restored(`${folder}/backup.tar`, folder)).rejects.toThrow('EISDIR')
  expect(readdirSync(elsewhere).filter((name) => name.includes('staging'))).toEqual([])
  rmSync(`${path}.swapping.partial`, { recursive: true })
  expect(await restored(`${folder}/backup.tar`, folder)).toMatchObject({ database: path })
  expect(readdirSync(elsewhere).filter((name) => name.includes('staging'))).toEqual([])
})
