/** Opens the databases of all releases. `npm run release -- --fixture` adds the database of this version. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { schema, versionOf } from '../../../src/store/schema/schema.ts'
import { differencesBetween, shapeOf } from '../../../src/store/schema/shape.ts'
import { temporaryFolder } from '../../folders.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { commonColumns, dump, keptTables, restore, rowsIn, schemaOf } from './dump.ts'
import { ENVIRONMENT, MADE_AT, playEveryTable } from './every_table.ts'
import { placeSealingKey } from './outgoing_rows.ts'

const FOLDER = new URL('fixtures/', import.meta.url)
const RELEASED = (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
  .filter((name) => name.endsWith('.sql'))
  .map((name) => ({ name: name.slice(0, -'.sql'.length), text: readFileSync(new URL(name, FOLDER), 'utf8') }))
  .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))

/** Tables of pending work, which the next start completes and deletes. */
const WORKED_OFF = ['metric_due', 'metric_tasks']
/** Tables with the rows of a generation, which other formulas replace. */
const REPLACED = ['metric_generations', 'reported_days', 'reported_series', 'reported_sums']

let made: string
beforeAll(async () => {
  const db = new Database(await playEveryTable(), { readonly: true })
  made = dump(db, schema)
  db.close()
})

function restored(text: string, file = `${temporaryFolder().path}/windfall.db`): Database.Database {
  mkdirSync(dirname(file), { recursive: true })
  restore(text, file)
  return new Database(file, { readonly: true })
}

test('the database of a release has rows in every kept table', () => {
  const db = restored(made)
  expect(keptTables(schema).filter((table) => rowsIn(db, table).length === 0)).toEqual([])
  expect(dump(db, schema)).toBe(made)
  db.close()
  const { WINDFALL_FIXTURE: file } = process.env
  if (!file) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, made)
})

/** A restored file is a copy, so it gets an id of its own. */
const INSTANCE_ID = "'instance_id'"

test.each([...RELEASED, { name: 'this version', text: null }])(
  'a database of $name keeps its rows and correct figures',
  async ({ text }) => {
    const before = restored(text ?? made)
    const folder = temporaryFolder().path
    const file = `${folder}/data/windfall.db`
    restored(text ?? made, file).close()
    placeSealingKey(file)
    const app = await openTestApp({ folder, apps: [], env: ENVIRONMENT, clock: handClock(MADE_AT) })
    await app.windfall.metrics.whenCurrent()

    const after = new Database(file, { readonly: true })
    expect(after.pragma('user_version', { simple: true })).toBe(versionOf(schema))
    const passing = [...WORKED_OFF, ...REPLACED]
    for (const table of keptTables(schemaOf(text ?? made)).filter((name) => !passing.includes(name))) {
      const columns = commonColumns(before, after, table)
      const there = new Set(rowsIn(after, table, columns))
      expect(
        rowsIn(before, table, columns).filter((row) => !there.has(row) && !row.startsWith(INSTANCE_ID)),
        table,
      ).toEqual([])
    }
    expect(await app.windfall.metrics.verify()).toMatchObject({ due: 0, difference: null })
    const types = before.prepare<[], string>('select distinct type from events').pluck().all()
    expect(app.feed(types)).toHaveLength(rowsIn(before, 'events').length)
    before.close()
    after.close()
  },
)

test('docs/releases.md records every release with its schema', () => {
  const page = readFileSync(new URL('../../../docs/releases.md', import.meta.url), 'utf8')
  const recorded = [...page.matchAll(/^\| (\d\S*) \| [0-9a-f]{40} \| (\d+) \| \d{4}-\d\d-\d\d \|$/gm)]
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const frozen = RELEASED.map(({ name, text }) => `${name} ${versionOf(schemaOf(text))}`)
  const named = recorded.map(([, name, schemaVersion]) => `${name} ${schemaVersion}`)
  // The fixture of a version is committed before the release is recorded.
  expect(frozen.filter((line) => !line.startsWith(`${version} `) || named.includes(line))).toEqual(named)
})

/** Returns the differences between two schemas of the same version, which files could not be distinguished by. */
function unversioned(released: string, present: string): string[] {
  if (versionOf(released) !== versionOf(present)) return []
  const [one, other] = [released, present].map((sql) => new Database(':memory:').exec(sql))
  return one && other ? differencesBetween(shapeOf(other), shapeOf(one)) : []
}

test('a changed schema.sql has a new version', () => {
  const last = RELEASED.at(-1)
  if (last === undefined) return
  expect(
    unversioned(schemaOf(last.text), schema),
    `schema.sql changed since ${last.name}: raise user_version and add a migration step to src/store/schema/schema.ts. ` +
      'Before the tag is made: npm run release -- --fixture',
  ).toEqual([])
})

test('detects a changed schema and ignores a changed comment', () => {
  const released = 'pragma user_version = 1; create table notes (id integer primary key) strict;'
  expect(unversioned(released, `${released} -- Notes.`)).toEqual([])
  expect(unversioned(released, `${released} create table tags (id integer primary key) strict;`)).not.toEqual(
    [],
  )
  const next = released.replace('user_version = 1', 'user_version = 2')
  expect(unversioned(released, `${next} create table tags (id integer primary key) strict;`)).toEqual([])
})
