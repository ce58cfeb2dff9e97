import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { verify } from '../../../src/store/backup/verification.ts'
import { openTestStore } from '../open.ts'

const exists = { status: 409, code: 'backup_exists' }

async function fill(opened: ReturnType<typeof openTestStore>, rows: number): Promise<void> {
  const value = 'x'.repeat(4_000)
  await Promise.all(
    Array.from({ length: rows }, (_, n) => opened.store.commit(() => opened.put(`before${n}`, value))),
  )
}

test('creates a complete, verified backup under load and never overwrites a file', async () => {
  const opened = openTestStore()
  const { store, put, folder } = opened
  await fill(opened, 50)
  const copying = store.copy(`${folder}/copy.db`)
  const writing = Promise.all(Array.from({ length: 200 }, (_, n) => store.commit(() => put(`during${n}`))))
  const backup = await copying
  await writing
  expect(statSync(backup.file).mode & 0o777).toBe(0o600)
  expect(backup.rows.settings).toBeGreaterThanOrEqual(50)
  const copy = new Database(backup.file, { readonly: true })
  expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(copy.prepare('select count(*) from settings').pluck().get()).toBe(backup.rows.settings)
  copy.close()
  await expect(store.copy(backup.file)).rejects.toMatchObject(exists)
})

test('a backup that cannot be written leaves nothing behind', async () => {
  const { store, folder } = openTestStore()
  await expect(store.copy(`${folder}/no/such/folder/copy.db`)).rejects.toThrow()
})

test('refuses a second concurrent backup to the same file', async () => {
  const opened = openTestStore()
  const { store, folder } = opened
  await fill(opened, 1_000)
  symlinkSync('.', `${folder}/linked`)
  const first = store.copy(`${folder}/copy.db`)
  await expect(store.copy(`${folder}/copy.db`)).rejects.toMatchObject(exists)
  await expect(store.copy(`${folder}/linked/copy.db`)).rejects.toMatchObject(exists)
  const other = store.copy(`${folder}/other.db`)
  expect((await first).rows.settings).toBe(1_000)
  expect((await other).rows.settings).toBe(1_000)
})

test('does not block the event loop while it verifies a copy', async () => {
  const opened = openTestStore()
  const { store, folder } = opened
  await fill(opened, 2_000)
  const { file } = await store.copy(`${folder}/copy.db`)
  let turns = 0
  let done = false
  const verifying = verify(file, new AbortController().signal).finally(() => {
    done = true
  })
  for (; !done; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  expect((await verifying).rows.settings).toBe(2_000)
  expect(turns).toBeGreaterThan(100)
})

/** Another program that commits in every turn of the event loop, until `stop` is called. */
function openBusyWriter(file: string) {
  const other = new Database(file)
  const insert = other.prepare("insert or replace into settings (key, value) values ('other', ?)")
  let [writes, isStopped] = [0, false]
  function write(): void {
    if (isStopped) return void other.close()
    writes += 1
    insert.run(String(writes))
    setImmediate(write)
  }
  write()
  onTestFinished(() => {
    isStopped = true
  })
  return { writes: () => writes }
}

test('a backup ends although another program writes all the time', async () => {
  const opened = openTestStore()
  const { store, folder } = opened
  await fill(opened, 500)
  await store.commit(() => store.prepare("delete from settings where key like 'before1%'").run())
  expect(store.pragma('freelist_count')).toBeGreaterThan(50)
  const writer = openBusyWriter(store.file)
  const { file, rows, version } = await store.copy(`${folder}/copy.db`)
  expect(writer.writes()).toBeGreaterThan(20)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect({ version, rows: rows.settings }).toEqual({ version: store.pragma('user_version'), rows: 390 })
  const copy = new Database(file, { readonly: true })
  // SQLite’s backup copies unused pages, too; the other way does not.
  expect(copy.pragma('freelist_count', { simple: true })).toBe(0)
  expect(copy.pragma('application_id', { simple: true })).toBe(store.pragma('application_id'))
  expect(copy.pragma('journal_mode', { simple: true })).toBe('delete')
  copy.close()
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
})

test('closing ends a backup during which another program writes all the time', async () => {
  const opened = openTestStore()
  const { store, folder } = opened
  await fill(opened, 500)
  const writer = openBusyWriter(store.file)
  const outcome = store.copy(`${folder}/copy.db`).catch((error) => error)
  while (writer.writes() < 40) await new Promise((resolve) => setImmediate(resolve))
  await store.close()
  expect(await outcome).toMatchObject({ status: 503, code: 'store_closing' })
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([])
})

test('refuses a damaged copy', async () => {
  const opened = openTestStore()
  const { store, folder } = opened
  await fill(opened, 100)
  const { file } = await store.copy(`${folder}/copy.db`)
  const bytes = readFileSync(file)
  bytes.fill(0x5a, 40_000, 60_000)
  writeFileSync(file, bytes)
  await expect(verify(file, new AbortController().signal)).rejects.toThrow(/damaged|malformed/)
})

test.each([0, 5, 50])(
  'closing %s turns into a backup ends it with a clear refusal, and leaves nothing of it',
  async (turns) => {
    const opened = openTestStore()
    const { store, folder } = opened
    await fill(opened, 4_000)
    const outcome = store.copy(`${folder}/copy.db`).catch((error) => error)
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    await store.close()
    expect(await outcome).toMatchObject({ status: 503, code: 'store_closing' })
    expect(readdirSync(folder)).toEqual(['windfall.db'])
    await expect(store.copy(`${folder}/copy.db`)).rejects.toMatchObject({ code: 'store_closing' })
  },
)

test('closing ends the verification of a copy', async () => {
  const opened = openTestStore()
  const { store, folder } = opened
  await fill(opened, 4_000)
  const outcome = store.copy(`${folder}/copy.db`).catch((error) => error)
  const size = Number(store.pragma('page_count')) * 4_096
  while ((statSync(`${folder}/copy.db.partial`, { throwIfNoEntry: false })?.size ?? 0) < size) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  await store.close()
  expect(await outcome).toMatchObject({ status: 503, code: 'store_closing' })
  expect(readdirSync(folder)).toEqual(['windfall.db'])
})
