import { beforeAll, expect, test } from 'vitest'
import { EXPORT_TABLES } from '../../../src/exports/tables/tables.ts'
import { blocksOf, PAGES } from '../../docs/snippets.ts'
import { freshRows } from '../../exports/mirror.ts'
import { openQueried } from './queried.ts'

let queried: Awaited<ReturnType<typeof openQueried>>
beforeAll(async () => {
  queried = await openQueried()
  return () => queried.app.close()
})
const query: typeof queried.query = (...given) => queried.query(...given)

test('each view has the rows and columns of its export', async () => {
  const exported = await freshRows(queried.app, { authorization: `Bearer ${await queried.app.token()}` })
  for (const { name } of EXPORT_TABLES) {
    const { columns, rows } = await query(`select * from ${name}`)
    const objects = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map((one, at) => [one, row[at]]))),
    )
    expect(objects.sort(), name).toEqual(exported[name])
  }
})

test.each([
  ['select count(*) from customers', [[1]]],
  ['with q as (select app_user_id from users) select count(*) from q', [[2]]],
  ['select u.app_user_id from users u join apps a on a.id = u.app_id order by 1', [['ann'], ['bob']]],
  ['select value from users, json_each(users.attributes) limit 1', [['pro']]],
  ['with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select max(i) from n', [[3]]],
  ['select row_number() over (order by app_user_id) from users', [[1], [2]]],
  ["-- a comment\nselect 'main', 'sessions'; -- and another", [['main', 'sessions']]],
  [
    'values (1, null), (2.5, 9007199254740993)',
    [
      [1, null],
      [2.5, '9007199254740993'],
    ],
  ],
  ["select x'00ff'", [['00ff']]],
])('answers %s', async (sql, rows) => {
  expect(await query(sql)).toMatchObject({ rows, isComplete: true })
})

/** The SQL of docs/webhooks.md is for the database of a backend. */
const DOCUMENTED = PAGES.filter((page) => page !== 'docs/webhooks.md')
  .flatMap(blocksOf)
  .filter(({ language }) => language === 'sql')

test('the queries of the documents run', async () => {
  expect(DOCUMENTED.length).toBeGreaterThan(4)
  for (const { page, text, line } of DOCUMENTED) {
    const { columns } = await query(text)
    expect(columns.length, `${page}:${line}`).toBeGreaterThan(1)
  }
})

test('a query that takes too long or too much memory ends', async () => {
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n'
  await expect(query(endless, { max_ms: 500, max_bytes: 1e9 })).rejects.toMatchObject({
    code: 'query_too_long',
  })
  const large =
    "with recursive n(i) as (select 1 union all select i + 1 from n limit 300000) select i, printf('%01000d', i) from n order by 2 desc"
  await expect(query(large, { max_ms: 30_000, max_bytes: 100 * 1_048_576 })).rejects.toMatchObject({
    code: 'query_too_large',
  })
})

test('a result is cut after 100,000 rows', async () => {
  const { rows, isComplete } = await query(
    'with recursive n(i) as (select 1 union all select i + 1 from n limit 100001) select i from n',
  )
  expect([rows.length, isComplete]).toEqual([100_000, false])
})
