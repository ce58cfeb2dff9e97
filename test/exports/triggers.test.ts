/** Every change of an exported column, and every deletion, is in the change log. */
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { EXPORT_TABLES } from '../../src/exports/tables/tables.ts'
import { playEveryTable } from '../store/schema/every_table.ts'

let db: Database.Database
beforeAll(async () => {
  db = new Database(await playEveryTable())
  db.exec(`
    insert into users (app_id, app_user_id, attributes, proved_attributes, verification, created_at, seen_at)
      select id, 'bob', '{}', '{}', 'unverified', 1, 1 from apps limit 1;
    insert into rates (currency, rated_on, per_usd_nano, source, recorded_at)
      values ('XTS', '2026-01-01', 1, 'import', 1)`)
  db.pragma('foreign_keys = off')
  return () => db.close()
})

const changesOf = (source: string): number =>
  Number(db.prepare('select count(*) from row_changes where source = ?').pluck().get(source))

/** Runs a statement that is rolled back, and returns how many rows it changed and how many changes it logged. */
function logged(source: string, sql: string): { changed: number; logged: number } {
  db.exec('begin')
  try {
    const before = changesOf(source)
    const { changes } = db.prepare(sql).run()
    return { changed: changes, logged: changesOf(source) - before }
  } finally {
    db.exec('rollback')
  }
}

/** The table and its alias in `from main.users u`. */
const baseOf = (from: string): [table: string, alias: string] => {
  const [, table = '', alias = ''] = /^main\.(\w+) (\w+)/.exec(from) ?? []
  return [table, alias]
}

/** What a row keeps for ever, because it identifies the row or is written once. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  // Apple's newest version of a fact replaces the row as a whole.
  subscriptions: ['*'],
  transactions: ['*'],
  rates: ['*'],
  customers: ['id', 'app_id', 'environment', 'original_transaction_id'],
  users: ['id', 'app_id', 'app_user_id', 'created_at'],
  links: ['id', 'app_id', 'store', 'transaction_id', 'created_at'],
  link_moves: ['id', 'link_id'],
}

const LOGGED = EXPORT_TABLES.filter(
  ({ tracking, name }) => tracking.kind === 'logged' && !name.startsWith('report_'),
)

test.each(LOGGED.map((table) => ({ ...table })))('logs $name', (table) => {
  const [base, alias] = baseOf(table.from)
  const source = table.tracking.kind === 'logged' ? table.tracking.source : ''
  const fixed = FIXED[table.name] ?? []
  const key = table.columns.flatMap(({ name, sql }) =>
    table.key.includes(name) ? sql.split('.').slice(1) : [],
  )
  const first = `(${key.join()}) in (select ${key.join()} from ${base} limit 1)`
  const own = table.columns.filter(({ sql }) => sql.includes(`${alias}.`))
  for (const { name, sql } of fixed[0] === '*' ? [] : own) {
    const column = new RegExp(`${alias}\\.(\\w+)`).exec(sql)?.[1] ?? ''
    if (fixed.includes(name)) continue
    const value = name.endsWith('_on') ? '90000000000' : `'{"x":1}'`
    const { changed, logged: count } = logged(
      source,
      `update ${base} set ${column} = ${/_at$/.test(name) ? 90_000_000_000 : value} where ${first}`,
    )
    expect([changed, count > 0], `${table.name}.${name}`).toEqual([1, true])
  }
  const replaced = logged(source, `insert or replace into ${base} select * from ${base} limit 1`)
  expect([replaced.changed, replaced.logged > 0], `${table.name}, replaced`).toEqual([1, true])
  const isDeleted = !['customers', 'transactions'].includes(base)
  const deleted = logged(source, `delete from ${base} where ${first}`)
  expect([deleted.changed, deleted.logged > 0], `${table.name}, deleted`).toEqual([1, isDeleted])
})

test('logs every report whose rows change, and the reports of an app that is connected later', () => {
  const [report] = db
    .prepare<[], { id: number }>("select id from reports where state = 'current' order by id limit 1")
    .all()
  const keyed = (sql: string): unknown[] => {
    db.exec('begin')
    const before = Number(db.prepare('select ifnull(max(change), 0) from row_changes').pluck().get())
    db.prepare(sql).run()
    const keys = db
      .prepare("select key from row_changes where change > ? and source = 'reports'")
      .pluck()
      .all(before)
    db.exec('rollback')
    return keys
  }
  const id = String(report?.id)
  expect(keyed(`update reports set state = 'superseded' where id = ${id}`)).toEqual([id])
  expect(keyed(`delete from reports where id = ${id}`)).toEqual([id])
  const of = db
    .prepare(
      'select report_id from report_apps where reported_app_id = (select min(reported_app_id) from report_apps)',
    )
    .pluck()
    .all()
    .map(String)
  expect(of.length).toBeGreaterThan(0)
  const joined = keyed(
    "update reported_apps set app_id = 'app_new' where id = (select min(reported_app_id) from report_apps)",
  )
  expect(joined.toSorted()).toEqual(of.toSorted())
})
