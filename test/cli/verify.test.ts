/** `windfall verify` of an instance, of backups in each form, and of copies of the database. */
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../metrics/test_ledger.ts'
import { folderOf, run, startServing } from '../processes.ts'

/** A folder with a database of two purchases, that nothing serves, and a plain copy of it. */
let cwd: string
beforeAll(async () => {
  const { app, notifyTransaction } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('2', 0, '2026-03-20', '2026-04-20')
  cwd = folderOf()
  await app.windfall.store.copy(join(cwd, 'copy.db'))
  await app.close()
})

const RIGHT = 'The metrics match the facts of 2 purchases.\n'
const WRONG = 'Difference found: the customer '

const verify = (...args: string[]) => run(['verify', ...args], { cwd })

/** The names of what is in the folder, and of what is in its temporary files. */
const names = () => readdirSync(cwd).sort()

/** A copy of the copy, of which something is changed. */
function changed(name: string, ...changes: readonly string[]): string {
  copyFileSync(join(cwd, 'copy.db'), join(cwd, name))
  const db = new Database(join(cwd, name))
  for (const change of changes) db.exec(change)
  db.close()
  return name
}

/** Where in the copy a table begins. */
function pageOf(table: string): { from: number; until: number } {
  const db = new Database(join(cwd, 'copy.db'), { readonly: true })
  const page = db.prepare('select rootpage from sqlite_schema where name = ?').pluck().get(table)
  const size = Number(db.pragma('page_size', { simple: true }))
  db.close()
  return { from: (Number(page) - 1) * size, until: Number(page) * size }
}

const DAMAGE = 'update customer_values set ltv_milli = 1'

test('reads a copy of the database in place without changing it', async () => {
  const before = { bytes: readFileSync(join(cwd, 'copy.db')), names: names() }
  expect(await verify('copy.db')).toMatchObject({ status: 0, stdout: RIGHT, stderr: '' })
  expect({ bytes: readFileSync(join(cwd, 'copy.db')), names: names() }).toEqual(before)
})

test('reports a difference with what to do', async () => {
  const ended = await verify(changed('wrong.db', DAMAGE))
  expect(ended).toMatchObject({ status: 1, stderr: '' })
  expect(ended.stdout).toContain(WRONG)
  expect(ended.stdout).toContain('Run npm run -s windfall -- rebuild metrics to')
})

test('counts purchases that were due', async () => {
  const mark =
    'insert into metric_due (generation, lineage_id, rank, since) select id, 1, 0, 0 from metric_generations'
  expect((await verify(changed('due.db', mark, DAMAGE.concat(' where lineage_id = 1')))).stdout).toBe(
    'The metrics match the facts of 1 purchase; 1 was not up to date when the file was written.\n',
  )
})

test('unpacks archives in a temporary folder and deletes it, decrypting with the identity', async () => {
  const identity = await generateIdentity()
  writeFileSync(join(cwd, 'key.txt'), identity)
  const recipients = await identityToRecipient(identity)
  const env = { WINDFALL_STORE_PATH: changed('instance.db', 'pragma journal_mode = wal') }
  const temporary = folderOf()
  for (const args of [['plain.tar'], ['sealed.tar.age', '--recipients', recipients]])
    expect((await run(['backup', ...args], { cwd, env })).status).toBe(0)
  const plain = await run(['verify', 'plain.tar'], { cwd, env: { TMPDIR: temporary } })
  expect(plain).toMatchObject({ status: 0, stdout: RIGHT })
  const sealed = await run(['verify', 'sealed.tar.age', '--identity', 'key.txt'], {
    cwd,
    env: { TMPDIR: temporary },
  })
  expect(sealed).toMatchObject({ status: 0, stdout: RIGHT })
  expect((await verify('sealed.tar.age')).stderr).toContain('--identity')
  expect(readdirSync(temporary)).toEqual([])
  const cut = readFileSync(join(cwd, 'plain.tar')).subarray(0, -3_000)
  writeFileSync(join(cwd, 'cut.tar'), cut)
  expect(await verify('cut.tar')).toMatchObject({ status: 1, stderr: expect.stringContaining('is damaged') })
})

test('verifies an instance with and without a server, but not the file of a running server', async () => {
  const data = changed('served.db', 'pragma journal_mode = wal')
  const env = { WINDFALL_STORE_PATH: data }
  const serving = await startServing({ cwd, env })
  expect(await run(['verify'], { cwd, env })).toMatchObject({ status: 0, stdout: RIGHT })
  expect(await verify(data)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /is being served by process \d+.* npm run -s windfall -- verify, without a file\n$/,
    ),
  })
  serving.kill('SIGTERM')
  await serving.ended
  expect(await run(['verify'], { cwd, env })).toMatchObject({ status: 0, stdout: RIGHT })
  const { mtimeMs, size } = statSync(join(cwd, data))
  expect((await verify(data)).stdout).toBe(RIGHT)
  expect(statSync(join(cwd, data))).toMatchObject({ mtimeMs, size })
  expect(existsSync(join(cwd, `${data}-wal`))).toBe(false)
})

test('refuses what it cannot verify, with what to do', async () => {
  writeFileSync(join(cwd, 'notes.txt'), 'not a backup')
  const bytes = readFileSync(join(cwd, 'copy.db'))
  const rows = pageOf('metric_rows')
  bytes.fill(1, rows.from, rows.until)
  writeFileSync(join(cwd, 'torn.db'), bytes)
  const older = changed('older.db', 'pragma user_version = 99')
  const refused: [string, RegExp][] = [
    ['missing.tar', /^there is no file .*missing\.tar\n$/],
    ['notes.txt', /^.*notes\.txt is neither a Windfall backup nor a database\n$/],
    [older, /was written by a newer version of Windfall/],
    ['torn.db', /^.*torn\.db is damaged: database disk image is malformed. Use another backup\n$/],
  ]
  for (const [file, words] of refused)
    expect(await verify(file)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(words) })
})
