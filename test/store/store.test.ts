import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore, type Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'

let folder: ReturnType<typeof temporaryFolder>
let store: Store
beforeEach(() => {
  folder = temporaryFolder()
  // The clock stands still, so that a slow machine does not end a batch early.
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
    .prepare<[], { key: string }>('select key from settings order by key')
    .all()
    .map((row) => row.key)

test('opens with durable settings', () => {
  expect(store.pragma('journal_mode')).toBe('wal')
  expect(store.pragma('synchronous')).toBe(2)
  expect(store.pragma('foreign_keys')).toBe(1)
  expect(store.pragma('trusted_schema')).toBe(0)
})

test('only its owner can read the file', () => {
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

test('work of one turn of the event loop shares one transaction', async () => {
  const watcher = new Database(store.file, { readonly: true })
  const seen: number[] = []
  const count = watcher.prepare('select count(*) from settings').pluck()
  const look = () => seen.push(Number(count.get()))
  const work = Array.from({ length: 10 }, (_, n) => store.commit(() => [look(), put(`k${n}`)]))
  await Promise.all(work)
  look()
  watcher.close()
  expect(seen).toEqual([...Array(10).fill(0), 10])
})

test('a batch has at most 64 closures', async () => {
  const watcher = new Database(store.file, { readonly: true })
  const count = () => Number(watcher.prepare('select count(*) from settings').pluck().get())
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
  expect(seen).toEqual([0, 0, 2])
})

test('an error undoes only its own work and rejects only its caller', async () => {
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

test('runs an effect after the commit, and never for undone work', async () => {
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

test('a full database fails the whole batch with 503, and recovers when there is space', async () => {
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

test('waits for the write lock of another process without blocking the event loop', async () => {
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

test('close waits for pending work', async () => {
  const work = Array.from({ length: 200 }, (_, n) => store.commit(() => put(`k${n}`)))
  await store.close()
  await Promise.all(work)
  const reopened = new Database(store.file, { readonly: true })
  expect(reopened.prepare('select count(*) from settings').pluck().get()).toBe(200)
  reopened.close()
})

test('refuses a foreign, newer or altered file, and does not change it', async () => {
  const make = (name: string, sql: string) => {
    const db = new Database(`${folder.path}/${name}`)
    db.exec(sql)
    db.close()
    return `${folder.path}/${name}`
  }
  expect(() => openStore(make('other.db', 'create table t (a)'))).toThrow('is not a Windfall database')
  const other = new Database(`${folder.path}/other.db`)
  expect(other.pragma('journal_mode', { simple: true })).toBe('delete')
  other.close()
  await store.close()
  const altered = (sql: string) => {
    const copy = `${folder.path}/altered.db`
    copyFileSync(store.file, copy)
    const db = new Database(copy)
    db.exec(sql)
    db.close()
    return () => openStore(copy)
  }
  expect(altered('pragma user_version = 99')).toThrow(
    'written by a newer version of Windfall (database version 99',
  )
  expect(altered('alter table users add column shoe_size integer')).toThrow(
    'column users.shoe_size is unexpected',
  )
  expect(altered('drop index links_by_user')).toThrow('index links_by_user is missing')
  expect(altered('drop trigger audit_log_stays')).toThrow('trigger audit_log_stays is missing')
  for (const [name, bytes] of [
    ['text.db', 'this is no database at all, whatever its name may say about it'],
    ['damaged.db', `SQLite format 3\0${'x'.repeat(5_000)}`],
  ] as const) {
    writeFileSync(`${folder.path}/${name}`, bytes)
    expect(() => openStore(`${folder.path}/${name}`)).toThrow('is not a database, or is damaged')
  }
})

test('accepts another SQL text of the same structure', async () => {
  await store.close()
  const db = new Database(store.file)
  db.exec(`
    drop index links_by_user;
    create index links_by_user on "links" (app_id, -- which app
      app_user_id);
    drop index pending_once;
    CREATE UNIQUE INDEX pending_once ON pending_notifications (sha256, IFNULL(organization_id, ''))`)
  db.pragma('optimize')
  db.close()
  await openStore(store.file).close()
})

test('refuses the log of another database before SQLite replays it', async () => {
  await store.commit(() => put('before'))
  const { file: copy } = await store.copy(`${folder.path}/copy.db`)
  await store.commit(() => put('after'))
  // The state after a crash and a wrong restore: the old log exists, and the backup replaced the database.
  const { path } = temporaryFolder()
  copyFileSync(copy, `${path}/windfall.db`)
  copyFileSync(`${store.file}-wal`, `${path}/windfall.db-wal`)
  expect(() => openStore(`${path}/windfall.db`)).toThrow(/is the log of another database.*windfall restore/)
  for (const there of ['', null]) {
    if (there === null) rmSync(`${path}/windfall.db`)
    else writeFileSync(`${path}/windfall.db`, there)
    expect(() => openStore(`${path}/windfall.db`)).toThrow('is missing or empty')
  }
  rmSync(`${path}/windfall.db-wal`)
  copyFileSync(copy, `${path}/windfall.db`)
  const restored = openStore(`${path}/windfall.db`)
  expect(restored.prepare('select key from settings').pluck().all()).toEqual(['before'])
  await restored.close()
})

test('refuses writes to a file that was replaced or deleted while open', async () => {
  await store.commit(() => put('before'))
  for (const inPlace of [null, 'another file']) {
    renameSync(store.file, `${store.file}.away`)
    if (inPlace !== null) writeFileSync(store.file, inPlace)
    await expect(store.commit(() => put('lost'))).rejects.toMatchObject({
      status: 503,
      code: 'store_replaced',
    })
    expect(await store.isWritable()).toBe(false)
    expect(store.condition()).toBe('replaced')
    renameSync(`${store.file}.away`, store.file)
    expect(store.condition()).toBe('ok')
  }
  await store.commit(() => put('after'))
  expect(keys()).toEqual(['after', 'before'])
})

test('checkpoints the log on a full disk, and again when there is space', async () => {
  await store.commit(() => put('small', 'x'.repeat(100_000)))
  store.limitPages(Number(store.pragma('page_count')))
  await expect(store.commit(() => put('large', 'x'.repeat(200_000)))).rejects.toThrow()
  const log = () =>
    store.prepare<[], { log: number; checkpointed: number }>('pragma wal_checkpoint(NOOP)').get()
  expect(log()?.checkpointed).toBe(log()?.log)
  expect(store.condition()).toBe('full')
  store.limitPages(null)
  expect(await store.isWritable()).toBe(true)
  expect(log()?.checkpointed).toBe(log()?.log)
  expect(store.condition()).toBe('ok')
})

test('saves the content of a deleted file on close, and creates no empty database', async () => {
  await store.commit(() => put('kept'))
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${store.file}${suffix}`)
  await store.close()
  expect(() => openStore(store.file)).toThrow(
    /was deleted while it was being served.*windfall restore .*rescued-1/,
  )
  renameSync(`${store.file}.rescued-1`, store.file)
  const again = openStore(store.file)
  expect(again.prepare('select key from settings').pluck().all()).toEqual(['kept'])
  await again.close()
})

test('serving a file ends an interrupted upgrade', async () => {
  await store.commit(() => put('upgrade_backup', '/somewhere'))
  await store.close()
  const again = openStore(store.file)
  expect(again.prepare('select key from settings').all()).toEqual([])
  await again.close()
})
