import { readdirSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { identifyFile } from '../../../src/store/schema/identify.ts'
import { upgrade } from '../../../src/store/schema/migrations.ts'
import { VERSIONS as PRESENT, schema } from '../../../src/store/schema/schema.ts'
import { temporaryFolder } from '../../folders.ts'
import { STEPS, VERSIONS, writeFirst } from './versions.ts'

function oldFile(notes?: number): string {
  const file = `${temporaryFolder().path}/windfall.db`
  writeFirst(file, notes)
  return file
}

/** Opens the file, and returns the result of `read`. */
function inFile<Found>(file: string, read: (db: Database.Database) => Found): Found {
  const db = new Database(file, { readonly: true })
  try {
    return read(db)
  } finally {
    db.close()
  }
}

const backupsOf = (file: string): string[] =>
  readdirSync(file.replace(/\/[^/]*$/, '')).filter((name) => name.includes('.before-version-'))

test('upgrades a file of the first version and keeps every row and sequence', async () => {
  const file = oldFile()
  const notes: unknown[] = []
  await upgrade(file, {
    versions: VERSIONS,
    note: (message, fields) => notes.push([message, fields?.version]),
  })
  expect(identifyFile(file, VERSIONS)).toEqual({ version: 10, isCurrent: true })
  inFile(file, (db) => {
    expect(db.prepare('select id, body, plan from notes order by id limit 2').all()).toEqual([
      { id: 1, body: '(empty)', plan: 'free' },
      { id: 2, body: 'note 1', plan: 'free' },
    ])
    expect(db.prepare('select count(*) from notes').pluck().get()).toBe(50)
    expect(db.prepare("select seq from sqlite_sequence where name = 'notes'").pluck().get()).toBe(51)
    expect(db.pragma('foreign_key_check')).toEqual([])
    expect(db.prepare('select line from log').pluck().all()).toEqual(['begun'])
  })
  expect(notes).toEqual([
    ['upgrading the database', undefined],
    ...[8, 9, 10].map((version) => ['upgraded the database', version]),
  ])
})

test('backs up the file before the first step', async () => {
  const file = oldFile()
  await upgrade(file, { versions: VERSIONS })
  expect(backupsOf(file)).toEqual(['windfall.db.before-version-10'])
  const backup = `${file}.before-version-10`
  expect(identifyFile(backup, VERSIONS)).toEqual({ version: 7, isCurrent: false })
  expect(inFile(backup, (db) => db.prepare('select count(*) from notes').pluck().get())).toBe(50)
})

test('a failed step is rolled back, and retries reuse one backup', async () => {
  const file = oldFile()
  const broken = {
    ...VERSIONS,
    steps: STEPS.map((step) =>
      step.version === 9 ? { ...step, up: (db: Database.Database) => void db.exec('create table') } : step,
    ),
  }
  for (let start = 0; start < 10; start += 1)
    await expect(upgrade(file, { versions: broken })).rejects.toThrow('incomplete input')
  // The first start ran the step to version 8. The other starts reuse the backup from before it.
  expect(backupsOf(file)).toEqual(['windfall.db.before-version-10'])
  expect(inFile(file, (db) => db.pragma('user_version', { simple: true }))).toBe(8)
  await upgrade(file, { versions: VERSIONS })
  expect(identifyFile(file, VERSIONS)?.isCurrent).toBe(true)
  expect(backupsOf(file)).toHaveLength(1)
})

test('backs up a file again if it changed since its backup', async () => {
  const file = oldFile()
  const failing = {
    ...VERSIONS,
    steps: [
      {
        version: 8,
        up: () => {
          throw new Error('no')
        },
      },
      ...STEPS.slice(1),
    ],
  }
  await expect(upgrade(file, { versions: failing })).rejects.toThrow('no')
  const db = new Database(file)
  db.exec("insert into log (line) values ('more')")
  db.close()
  await expect(upgrade(file, { versions: failing })).rejects.toThrow('no')
  expect(backupsOf(file)).toHaveLength(2)
})

test('rolls back a step that violates a foreign key or makes a wrong schema', async () => {
  const orphaning = { version: 8, up: (db: Database.Database) => void db.exec('delete from owners') }
  const file = oldFile()
  await expect(upgrade(file, { versions: { ...VERSIONS, steps: [orphaning] } })).rejects.toThrow(
    'would leave 50 foreign key violations',
  )
  let runs = 0
  const another = (): string => {
    runs += 1
    return `create table t${runs} (a)`
  }
  const changing = { version: 8, up: (db: Database.Database) => void db.exec(another()) }
  await expect(upgrade(file, { versions: { ...VERSIONS, steps: [changing] } })).rejects.toThrow(
    'does not have the schema of database version 8',
  )
  expect(identifyFile(file, VERSIONS)).toEqual({ version: 7, isCurrent: false })
})

test('does not begin without space for the backup', async () => {
  const file = oldFile()
  await expect(upgrade(file, { versions: VERSIONS, freeBytes: () => 10_000 })).rejects.toMatchObject({
    code: 'no_room',
    message: expect.stringMatching(/needs 1 MB next to .*, but only 1 MB are free/),
  })
  expect(backupsOf(file)).toEqual([])
  expect(identifyFile(file, VERSIONS)?.version).toBe(7)
})

test('refuses a file of a newer version and one that is too old', async () => {
  const file = oldFile()
  const set = (version: number) => {
    const db = new Database(file)
    db.pragma(`user_version = ${version}`)
    db.close()
  }
  set(11)
  expect(() => identifyFile(file, VERSIONS)).toThrow(
    'written by a newer version of Windfall (database version 11; this one supports 10)',
  )
  set(6)
  await expect(upgrade(file, { versions: VERSIONS })).rejects.toThrow(
    'has database version 6, which this version of Windfall cannot upgrade',
  )
})

test('ignores the tables of Litestream', async () => {
  const file = oldFile()
  const db = new Database(file)
  db.exec(`
    create table _litestream_seq (id integer primary key, seq integer);
    create table _litestream_lock (id integer)`)
  db.close()
  await upgrade(file, { versions: VERSIONS })
  expect(identifyFile(file, VERSIONS)?.isCurrent).toBe(true)
})

test('the migrations lead from the first release to schema.sql', () => {
  const made = new Database(':memory:')
  made.exec(PRESENT.first)
  for (const { up } of PRESENT.steps) up(made)
  const fresh = new Database(':memory:')
  fresh.exec(schema)
  const tables = (db: Database.Database) =>
    db.prepare("select name from sqlite_schema where name not like 'sqlite_%' order by name").pluck().all()
  expect(tables(made)).toEqual(tables(fresh))
  expect(PRESENT.steps.map(({ version }) => version)).toEqual(PRESENT.steps.map((_, at) => at + 2))
})
