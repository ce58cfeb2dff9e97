import { statSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore, type Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'

let folder: ReturnType<typeof temporaryFolder>
let store: Store
beforeEach(() => {
  folder = temporaryFolder()
  // Time stands still, so that a slow machine does not end a batch before it is full.
  store = openStore(`${folder.path}/data/windfall.db`, { elapsed: () => 0 })
})
afterEach(async () => {
  await store.close().catch(() => {})
  folder.remove()
})

const put = (key: string, value = 'x') =>
  store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)').run(key, value)
const keys = () =>
  store
    .prepare<[], { key: string }>("select key from settings where key <> 'schema' order by key")
    .all()
    .map((row) => row.key)

test('opens durable, with the pragmas asked for after the schema exists', () => {
  expect(store.pragma('journal_mode')).toBe('wal')
  expect(store.pragma('synchronous')).toBe(2)
  expect(store.pragma('foreign_keys')).toBe(1)
  expect(store.pragma('trusted_schema')).toBe(0)
})

test('the file can be read by its owner alone', () => {
  expect(statSync(store.file).mode & 0o777).toBe(0o600)
})

test('every table is strict', () => {
  const loose = store
    .prepare(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%' and strict = 0",
    )
    .all()
  expect(loose).toEqual([])
})

test('what gathers in one turn of the event loop shares one transaction', async () => {
  const watcher = new Database(store.file, { readonly: true })
  const seen: number[] = []
  const count = watcher.prepare("select count(*) from settings where key <> 'schema'").pluck()
  const look = () => seen.push(Number(count.get()))
  const work = Array.from({ length: 10 }, (_, n) => store.commit(() => [look(), put(`k${n}`)]))
  await Promise.all(work)
  look()
  watcher.close()
  expect(seen).toEqual([...Array(10).fill(0), 10])
})

test('a batch has at most 64 closures; the rest waits for the next', async () => {
  const watcher = new Database(store.file, { readonly: true })
  const count = () =>
    Number(watcher.prepare("select count(*) from settings where key <> 'schema'").pluck().get())
  const seen: number[] = []
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => store.commit(() => [seen.push(count()), put(`k${n}`)])),
  )
  watcher.close()
  expect(Math.max(...seen.slice(0, 64))).toBe(0)
  expect(Math.min(...seen.slice(64))).toBeGreaterThan(0)
  expect(seen).toHaveLength(100)
})

test('a batch ends after five milliseconds of work', async () => {
  let now = 0
  const slow = openStore(`${folder.path}/slow.db`, { elapsed: () => now })
  const watcher = new Database(slow.file, { readonly: true })
  const count = watcher.prepare('select count(*) from settings').pluck()
  const insert = slow.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')
  const seen: unknown[] = []
  const work = (key: string) => () => {
    seen.push(count.get())
    now += 3
    insert.run(key, 'x')
  }
  await Promise.all(['a', 'b', 'c'].map((key) => slow.commit(work(key))))
  watcher.close()
  await slow.close()
  expect(seen).toEqual([1, 1, 3])
})

test('work that throws is undone alone, and its caller alone is told', async () => {
  const good = store.commit(() => put('good'))
  const bad = store.commit(() => {
    put('half')
    throw new Error('no')
  })
  const constraint = store.commit(() => put('good'))
  const after = store.commit(() => put('after'))
  await expect(bad).rejects.toThrow('no')
  await expect(constraint).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' })
  await Promise.all([good, after])
  expect(keys()).toEqual(['after', 'good'])
})

test('an effect runs after the commit, and not at all for work that was undone', async () => {
  const effects: string[] = []
  const kept = store.commit(() => store.afterCommit(() => effects.push('kept')))
  const undone = store.commit(() => {
    store.afterCommit(() => effects.push('undone'))
    throw new Error('no')
  })
  expect(effects).toEqual([])
  await kept
  await expect(undone).rejects.toThrow()
  expect(effects).toEqual(['kept'])
})

test('a full database fails the whole batch with 503, keeps nothing of it, and takes up again when there is room', async () => {
  store.limitPages(Number(store.pragma('page_count')))
  const small = store.commit(() => put('small'))
  const large = store.commit(() => put('large', 'x'.repeat(200_000)))
  await expect(large).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
  await expect(small).rejects.toMatchObject({ status: 503 })
  expect(keys()).toEqual([])
  expect(await store.isWritable()).toBe(false)
  store.limitPages(null)
  expect(await store.isWritable()).toBe(true)
  await store.commit(() => put('again'))
  expect(keys()).toEqual(['again'])
})

test('while another process holds the write lock nothing is lost and the event loop goes on', async () => {
  const other = new Database(store.file)
  other.exec('begin immediate')
  const waiting = store.commit(() => put('late'))
  let turns = 0
  await new Promise<void>((resolve) => {
    const turn = (): void => {
      turns += 1
      if (turns < 50) setImmediate(turn)
      else resolve()
    }
    turn()
  })
  other.exec('rollback')
  other.close()
  await waiting
  expect(keys()).toEqual(['late'])
})

test('closing waits for what was handed over', async () => {
  const work = Array.from({ length: 200 }, (_, n) => store.commit(() => put(`k${n}`)))
  await store.close()
  await Promise.all(work)
  const reopened = new Database(store.file, { readonly: true })
  expect(reopened.prepare("select count(*) from settings where key <> 'schema'").pluck().get()).toBe(200)
  reopened.close()
})

test('a file that is not ours, is newer or has another shape is refused by name', async () => {
  const make = (name: string, sql: string) => {
    const db = new Database(`${folder.path}/${name}`)
    db.exec(sql)
    db.close()
    return `${folder.path}/${name}`
  }
  expect(() => openStore(make('other.db', 'create table t (a)'))).toThrow(
    /not one of Windfall’s|not one of Windfall's/,
  )
  await store.close()
  const db = new Database(store.file)
  db.pragma('user_version = 99')
  db.close()
  expect(() => openStore(store.file)).toThrow(/newer Windfall \(shape 99/)
  const older = new Database(store.file)
  older.pragma('user_version = 1')
  older.exec("update settings set value = 'other' where key = 'schema'")
  older.close()
  expect(() => openStore(store.file)).toThrow(/another build/)
  writeFileSync(`${folder.path}/junk.db`, 'this is no database at all, whatever its name may say about it')
  expect(() => openStore(`${folder.path}/junk.db`)).toThrow()
})
