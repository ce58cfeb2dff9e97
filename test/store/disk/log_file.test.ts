import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/store/store.ts'
import { openTestStore } from '../open.ts'
import { openOtherReader } from '../other_reader.ts'

/** A store whose log has many pages with `secret`, but too few for a checkpoint, and another program that reads. */
async function restartedLog() {
  const opened = openTestStore()
  const { store, put } = opened
  for (let n = 0; n < 100; n += 1) await store.commit(() => put(`k${n}`, `a secret ${'x'.repeat(4_000)}`))
  const other = openOtherReader(store.file)
  await store.commit(() => store.prepare('delete from settings').run())
  const size = () => statSync(`${store.file}-wal`).size
  const hasSecret = () => readFileSync(`${store.file}-wal`).includes('a secret')
  return { ...opened, other, size, hasSecret }
}

test('a reader prevents that the log is emptied, and after a restart the old pages are cut off', async () => {
  const { store, put, keys, other, size, hasSecret } = await restartedLog()
  const salts = store.log.salts()
  expect(store.log.empty()).toBe(false)
  const before = size()
  // Nothing of the newest part is cut off: a restart has not happened.
  await store.commit(store.log.trim)
  expect({ size: size(), salts: store.log.salts() }).toEqual({ size: before, salts })

  other.restartLog()
  expect(store.log.salts()).not.toBe(salts)
  await store.commit(() => put('new'))
  expect({ hasSecret: hasSecret(), size: size() }).toEqual({ hasSecret: true, size: before })
  await store.commit(() => {
    put('newer')
    store.log.trim()
  })
  expect(hasSecret()).toBe(false)
  expect(size()).toBeLessThan(before / 10)
  await store.commit(() => put('newest'))
  const reader = new Database(store.file, { readonly: true })
  expect(reader.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(reader.prepare('select key from settings order by key').pluck().all()).toEqual(keys())
  reader.close()
  other.end()
  expect(store.log.empty()).toBe(true)
  expect(store.log.salts()).toBe('')
  await store.commit(store.log.trim)
})

test('the log stays next to the file if another program reads the database at a clean stop', async () => {
  const { store, put, warnings, size, other } = await restartedLog()
  await store.commit(() => put('last'))
  await store.close()
  expect(warnings).toEqual([])
  expect(size()).toBeGreaterThan(0)
  const again = openStore(store.file)
  expect(again.prepare('select key from settings').pluck().all()).toEqual(['last'])
  await again.close()
  other.end()
})

test('a start waits for the lock of another program', async () => {
  const { store } = openTestStore()
  await store.close()
  const holder = `
    const db = new (require('better-sqlite3'))(process.argv[1])
    db.exec('begin immediate')
    process.stdout.write('locked')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    db.exec('rollback')`
  const child = spawn(process.execPath, ['-e', holder, store.file], { cwd: import.meta.dirname })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const again = openStore(store.file)
  expect(again.pragma('busy_timeout')).toBe(0)
  await again.commit(() => again.prepare("insert into settings (key, value) values ('k', 'v')").run())
  await again.close()
  expect(await ended).toBe(0)
})
