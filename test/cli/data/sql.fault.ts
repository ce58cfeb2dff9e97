/** Queries that try to write, to read other files, or to reach what is not in the views. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openQueried } from './queried.ts'

let queried: Awaited<ReturnType<typeof openQueried>>
beforeAll(async () => {
  queried = await openQueried()
  return () => queried.app.close()
})

const HOSTILE = [
  'select * from main.users',
  'select count(*) from main.users',
  'select 1 from main.customers limit 1',
  'select * from sessions',
  'select count(*) from sessions',
  'select (select count(*) from SESSIONS), (select count(*) from customers)',
  'select exists (select 1 from settings)',
  // A common table expression with the name of a view.
  'with users as (select * from main.users) select * from users',
  'with customers as (select value from settings) select * from customers',
  'select users.value from (select * from settings) as users',
  'select count(*) from sales_days, report_sales',
  'select * from sqlite_schema',
  'select sql from sqlite_temp_master',
  'select count(*) from sqlite_master',
  "select * from pragma_table_info('users')",
  'select * from dbstat',
  'pragma table_list',
  'pragma writable_schema = 1',
  "vacuum into 'copy.db'",
  'vacuum',
  "attach 'other.db' as other",
  'detach main',
  "select load_extension('x.so')",
  "select export_account_token('a', 'b')",
  "with n as (select 1) insert into users (app_id) select 'x' from n",
  "update users set app_user_id = 'eve'",
  'delete from users',
  'explain delete from users',
  'explain delete from main.users',
  'drop view users',
  'create temp table t (a)',
  'begin immediate',
  'reindex',
  'select 1; select 2',
  'select 1; delete from users',
  ';',
  '',
  'selekt',
  'select randomblob(20000000)',
  "select writefile('x', 'y')",
  "select readfile('/etc/passwd')",
]

/** SQLite's words for what the authorizer refuses. */
const REFUSED =
  /not authorized|prohibited|must begin with|single statement|no query|no such (function|table)|syntax error|too big|cannot modify|too many attached/

test.each(HOSTILE)('refuses %s', async (sql) => {
  const folder = dirname(queried.app.config.store.path)
  const before = readdirSync(folder).sort()
  await expect(queried.query(sql)).rejects.toMatchObject({
    code: 'query_refused',
    message: expect.stringMatching(REFUSED),
  })
  expect(readdirSync(folder).sort()).toEqual(before)
  for (const name of ['copy.db', 'other.db', 'x']) expect(existsSync(join(process.cwd(), name))).toBe(false)
})
