import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { VERSIONS } from '../../../src/store/schema/schema.ts'
import { storedSql } from '../../../src/store/schema/stored_sql.ts'

/** What SQLite itself stores for a schema. */
function storedBySqlite(sql: string): unknown {
  const db = new Database(':memory:')
  try {
    db.exec(sql)
    return db
      .prepare(
        "select group_concat(sql, ';' order by type, name) from sqlite_schema where name not like 'sqlite%'",
      )
      .pluck()
      .get()
  } finally {
    db.close()
  }
}

test('the schema of this version is stored as it is computed, so that a start need not build it', () => {
  expect(storedSql(VERSIONS.schema)).toBe(storedBySqlite(VERSIONS.schema))
})

test.each([
  ['a comment before a statement', '-- a; b\n\ncreate table t (a);'],
  [
    'a comment inside',
    'create table t ( -- a; it is\n  a int, -- b\n  b int primary key, -- c\n  d text\n) strict, without rowid;',
  ],
  ['a semicolon in a text', "create table t (a text default ';' check (a <> 'it''s;'));"],
  ['a semicolon in a name', 'create table t ("a;b");'],
  ['unique and partial indexes', 'create table t (a);CREATE  UNIQUE\nINDEX i on t (a) where a is not null;'],
  ['a view', 'create table t (a); create view w as select a from t ;'],
  [
    'a trigger of two statements',
    "create table t (a);\ncreate trigger w before update on t\nbegin\n  select 1; -- end;\n  select 'end;';\nend;",
  ],
  ['pragmas and rows', 'pragma user_version = 3; create table t (a); insert into t values (1);'],
])('%s is stored as SQLite stores it', (_, sql) => {
  expect(storedSql(sql)).toBe(storedBySqlite(sql))
})
