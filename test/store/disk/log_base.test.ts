/** A database file that is replaced beside the log of a server that crashed. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openRandom } from '../../../src/demo/world/random.ts'
import { openStore } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../folders.ts'
import { isLong, seed } from '../../random.ts'
import { openTestStore } from '../open.ts'
import { openOtherReader } from '../other_reader.ts'

const SUFFIXES = ['', '-wal', '.base']

/** The files that a process killed now leaves on the disk, in a folder of their own. Returns the path of the database. */
function leftBehind(file: string, suffixes = SUFFIXES): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const left = `${path}/windfall.db`
  for (const suffix of suffixes)
    if (existsSync(`${file}${suffix}`)) copyFileSync(`${file}${suffix}`, `${left}${suffix}`)
  return left
}

/** Opens a store, and returns its keys. */
async function keysIn(file: string): Promise<string[]> {
  const store = openStore(file)
  const keys = store.prepare<[], { key: string }>('select key from settings order by key').all()
  await store.close()
  return keys.map(({ key }) => key)
}

/** A copy of a database that another program makes while a server has it open. */
async function copiedBySqlite(file: string): Promise<string> {
  const copy = `${leftBehind(file, [])}.copy`
  const other = new Database(file)
  await other.backup(copy)
  other.close()
  return copy
}

const FOREIGN = /is a copy that was made without it.*windfall restore BACKUP/

test('a copy that another program made is refused beside the newer log, and served without it', async () => {
  const { store, put } = openTestStore()
  await store.commit(() => put('early'))
  const copy = await copiedBySqlite(store.file)
  // It is in WAL mode, as the database is.
  expect([...readFileSync(copy).subarray(18, 20)]).toEqual([2, 2])
  for (const key of ['later1', 'later2']) await store.commit(() => put(key))
  const crashed = leftBehind(store.file)
  expect(await keysIn(leftBehind(store.file))).toEqual(['early', 'later1', 'later2'])
  copyFileSync(copy, crashed)
  expect(() => openStore(crashed)).toThrow(FOREIGN)
  expect(() => openStore(crashed)).toThrow(FOREIGN)
  const alone = leftBehind(store.file, [])
  copyFileSync(copy, alone)
  expect(await keysIn(alone)).toEqual(['early'])
})

test('a copy of the file from before the start is refused beside the log of this start', async () => {
  const { store, put } = openTestStore()
  await store.commit(() => put('early'))
  await store.close()
  const copy = `${leftBehind(store.file, [])}.copy`
  copyFileSync(store.file, copy)
  const again = openStore(store.file)
  onTestFinished(again.close)
  await again.commit(
    () => void again.prepare("insert into settings (key, value) values ('later', 'x')").run(),
  )
  const crashed = leftBehind(store.file)
  expect(await keysIn(leftBehind(store.file))).toEqual(['early', 'later'])
  copyFileSync(copy, crashed)
  expect(() => openStore(crashed)).toThrow(FOREIGN)
})

test.each([
  ['nothing', null],
  ['half a note', 'ab12'],
  ['a note of another log', `${'0'.repeat(16)} ${'1'.repeat(200)}\n`],
])('with %s about the log, the start does not judge', async (_, text) => {
  const { store, put } = openTestStore()
  await store.commit(() => put('kept'))
  const crashed = leftBehind(store.file, ['', '-wal'])
  if (text !== null) writeFileSync(`${crashed}.base`, text)
  expect(await keysIn(crashed)).toEqual(['kept'])
})

test('a clean stop leaves no note', async () => {
  const { store, put } = openTestStore()
  await store.commit(() => put('kept'))
  expect(existsSync(`${store.file}.base`)).toBe(true)
  await store.close()
  expect(existsSync(`${store.file}.base`)).toBe(false)
})

test('a program that writes does not prevent a start', async () => {
  const { store, put } = openTestStore()
  await store.commit(() => put('kept'))
  await store.close()
  const other = new Database(store.file)
  other.exec('begin immediate')
  const again = openStore(store.file)
  other.exec('rollback')
  other.close()
  expect(again.prepare('select key from settings').pluck().all()).toEqual(['kept'])
  await again.close()
})

const STEPS = isLong ? 2_000 : 150

test(`the file of a crashed server is its own at each moment (seed ${seed})`, async () => {
  const random = openRandom(`log_base/${seed}`)
  const { store, put, keys } = openTestStore()
  let other: ReturnType<typeof openOtherReader> | null = null
  /** Notes of earlier moments: a power failure can leave any of them. */
  const notes: string[] = []
  let count = 0
  const nextKey = (): string => {
    count += 1
    return `key ${count}`
  }
  const steps = {
    small: () => store.commit(() => put(nextKey())),
    large: () => store.commit(() => put(nextKey(), 'x'.repeat(200_000))),
    remove: () => store.commit(() => store.prepare("delete from settings where value <> 'x'").run()),
    checkpoint: () => void store.pragma('wal_checkpoint(PASSIVE)'),
    empty: () => void store.log.empty(),
    trim: () => store.commit(store.log.trim),
    begin: () => {
      other ??= openOtherReader(store.file)
    },
    restart: () => other?.restartLog(),
    end: () => {
      other?.end()
      other = null
    },
  }
  for (let n = 0; n < STEPS; n += 1) {
    await steps[random.pick(Object.keys(steps) as (keyof typeof steps)[])]()
    const crashed = leftBehind(store.file)
    if (existsSync(`${crashed}.base`)) notes.push(readFileSync(`${crashed}.base`, 'utf8'))
    if (notes.length > 0 && random.whole(0, 3) === 0) writeFileSync(`${crashed}.base`, random.pick(notes))
    expect(await keysIn(crashed)).toEqual(keys())
  }
  expect(new Set(notes).size).toBeGreaterThan(3)
})
