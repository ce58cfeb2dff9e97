import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { assertDurable } from '../../../src/store/disk/durable.ts'
import { openStore } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../folders.ts'
import { openTestStore } from '../open.ts'

type Frames = { log: number; checkpointed: number }

const value = 'x'.repeat(4_000)

/** Writes rows of four kilobytes in a few transactions. */
function write({ store, put }: ReturnType<typeof openTestStore>, name: string, rows: number) {
  return Promise.all(Array.from({ length: rows }, (_, n) => store.commit(() => put(`${name}-${n}`, value))))
}

/** Returns the state of the write-ahead log from another connection. */
function watch(file: string) {
  const watcher = new Database(file)
  const look = watcher.prepare<[], Frames>('pragma wal_checkpoint(NOOP)')
  return { frames: (): Frames => look.get() ?? { log: 0, checkpointed: 0 }, close: () => watcher.close() }
}

test('checkpoints the write-ahead log during writes, and restarts it', async () => {
  const opened = openTestStore()
  for (let round = 0; round < 100; round += 1) await write(opened, `r${round}`, 200)
  // Without checkpoints the log would have more than 80 MB.
  expect(statSync(`${opened.store.file}-wal`).size).toBeLessThan(50 * 1024 * 1024)
  expect(opened.keys()).toHaveLength(20_000)
})

test('waits for enough writes before the next checkpoint', async () => {
  const opened = openTestStore()
  const { store, put } = opened
  await write(opened, 'first', 1_500)
  const watcher = watch(store.file)
  let n = 0
  const one = () => store.commit(() => put(`small${n++}`))
  while (watcher.frames().checkpointed === 0) await one()
  while (watcher.frames().checkpointed > 0) await one()
  const seen: Frames[] = []
  for (let batch = 0; batch < 150; batch += 1) {
    await one()
    seen.push(watcher.frames())
  }
  watcher.close()
  expect(seen.at(-1)?.log).toBeLessThan(1_000)
  expect(seen.filter((frames) => frames.checkpointed > 0)).toEqual([])
})

test('warns once about a log that a reader keeps from restarting', async () => {
  const opened = openTestStore()
  const { store, warnings } = opened
  const reader = new Database(store.file, { readonly: true })
  reader.exec('begin')
  reader.prepare('select count(*) from settings').get()
  for (let round = 0; round < 120 && warnings.length === 0; round += 1) await write(opened, `r${round}`, 500)
  for (let round = 0; round < 4; round += 1) await write(opened, `more${round}`, 500)
  reader.exec('commit')
  reader.close()
  expect(warnings).toEqual([
    {
      message: 'the write-ahead log cannot restart: a reader keeps the database open',
      fields: { bytes: expect.any(Number) },
    },
  ])
  expect(warnings[0]?.fields?.bytes).toBeGreaterThan(64 * 1024 * 1024)
})

test('refuses a connection without durable settings', () => {
  const { store } = openTestStore()
  const other = new Database(store.file)
  other.pragma('synchronous = normal')
  expect(() => assertDurable(other)).toThrow('synchronous = 1; it must be 2')
  other.pragma('synchronous = full')
  assertDurable(other, ['journal_mode', 'synchronous'])
  other.pragma('foreign_keys = off')
  expect(() => assertDurable(other)).toThrow('foreign_keys = 0')
  other.close()
})

test('warns and loses nothing if the log can be written but not the database', async () => {
  const folder = temporaryFolder()
  const file = `${folder.path}/windfall.db`
  const store = openStore(file)
  const insert = store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')
  for (let n = 0; n < 32; n += 1) {
    await store.commit(() => void insert.run(`old${n}`, 'x'.repeat(1_000_000)))
  }
  await store.close()

  // The limit of each file is 8 or 16 MB (the block size depends on the shell). The database is already larger.
  const script = fileURLToPath(new URL('full_disk.ts', import.meta.url))
  const limited = spawnSync(
    'sh',
    ['-c', 'trap "" XFSZ; ulimit -f 16384; exec "$@"', 'sh', process.execPath, script, file],
    { encoding: 'utf8', timeout: 20_000 },
  )
  expect(limited.stderr).toBe('')
  const { warnings, committed } = JSON.parse(limited.stdout)
  expect(warnings).toEqual([
    'the write-ahead log could not be checkpointed; nothing is lost',
    'the write-ahead log could not be checkpointed; it stays in place, and nothing is lost',
  ])
  const reopened = openStore(file)
  const kept = reopened.prepare("select count(*) from settings where key like 'new%'").pluck().get()
  expect(kept).toBe(committed)
  await reopened.close()
  folder.remove()
})
