import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { EXPORT_TABLES } from '../../../src/exports/tables/tables.ts'
import { BUNDLE, renewedPayload } from '../../apple/samples.ts'
import { openTestApp } from '../../helpers.ts'
import { folderOf, run, start } from '../../processes.ts'

const NAMES = EXPORT_TABLES.map(({ name }) => name)

async function openExported() {
  const app = await openTestApp()
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${app.config.store.path}"\n` })
  await app.notify(renewedPayload(app.authority))
  const identify = (appUserId: string) =>
    app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes: { name: 'Ann, "A"\n=1' } })
  await identify('ann')
  await app.windfall.metrics.whenCurrent()
  return { app, cwd, identify, windfall: (...args: string[]) => run(args, { cwd }) }
}

const jsonLines = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('windfall export writes every table and a manifest, and then what has changed', async () => {
  const { app, cwd, identify, windfall } = await openExported()
  const first = await windfall('export', 'copy')
  expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining('users: 1 row\n') })
  const folder = join(cwd, 'copy')
  expect(readdirSync(folder).sort()).toEqual(
    [...NAMES.map((name) => `${name}.jsonl`), 'manifest.json'].sort(),
  )
  for (const name of ['', ...readdirSync(folder)])
    expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0)
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const head = app.windfall.feed.head()
  expect(manifest).toMatchObject({ format: 'jsonl', after: null, feed_seq: { start: head, end: head } })
  expect(first.stdout).toContain(manifest.cursor)
  for (const { rows_in, rows, mode } of manifest.tables) {
    expect(jsonLines(join(folder, rows_in))).toHaveLength(rows)
    expect(mode).toBe('all')
  }
  expect(jsonLines(join(folder, 'users.jsonl'))).toMatchObject([{ app_user_id: 'ann' }])

  await identify('bob')
  await app.windfall.store.commit(() =>
    app.windfall.erasures.erase({
      app_id: app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? '',
      app_user_id: 'ann',
      asked_by: 'test',
      even_unknown: false,
    }),
  )
  const changes = await windfall(
    'export',
    'changes',
    '--after',
    'copy',
    '--format',
    'csv',
    '--tables',
    'users',
  )
  expect(changes).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('users: 1 row; 1 key to delete'),
  })
  const [header, row] = readFileSync(join(cwd, 'changes', 'users.csv'), 'utf8').split('\r\n')
  expect(header?.startsWith('id,app_id,app_user_id,')).toBe(true)
  expect(row).toContain('bob')
  expect(readFileSync(join(cwd, 'changes', 'users_deleted.csv'), 'utf8')).toBe('id\r\n1\r\n')
  await app.close()
})

test('windfall export writes a SQLite file with the same rows, also without a server', async () => {
  const { app, cwd, windfall } = await openExported()
  await app.windfall.close()
  expect(await windfall('export', 'copy')).toMatchObject({ status: 0 })
  const answer = await windfall('export', 'copy.sqlite', '--json')
  expect(answer).toMatchObject({ status: 0, stderr: '' })
  const manifest = JSON.parse(answer.stdout)
  expect(manifest).toMatchObject({ format: 'sqlite', organization: null })
  const db = new Database(join(cwd, 'copy.sqlite'), { readonly: true })
  for (const name of NAMES)
    expect(db.prepare(`select * from ${name}`).all(), name).toEqual(
      jsonLines(join(cwd, 'copy', `${name}.jsonl`)),
    )
  expect(db.prepare("select value from export_manifest where name = 'cursor'").pluck().get()).toBe(
    manifest.cursor,
  )
  db.close()
  expect(statSync(join(cwd, 'copy.sqlite')).mode & 0o077).toBe(0)

  const changes = await windfall('export', 'changes.db', '--after', manifest.cursor, '--json')
  expect(JSON.parse(changes.stdout).tables).toContainEqual({
    name: 'users',
    mode: 'changes',
    key: ['id'],
    rows_in: 'users',
    rows: 0,
    deleted_in: 'users_deleted',
    deleted: 0,
  })
})

test('windfall export has the whole of a table that the earlier export does not have', async () => {
  const { app, identify, windfall } = await openExported()
  const tablesOf = async (...args: string[]) => {
    const answer = await windfall('export', ...args, '--json')
    const { tables } = JSON.parse(answer.stdout) as { tables: { name: string; mode: string; rows: number }[] }
    return Object.fromEntries(tables.map(({ name, mode, rows }) => [name, [mode, rows]]))
  }
  await tablesOf('some', '--tables', 'users')
  await identify('bob')
  const rest = await tablesOf('rest', '--after', 'some', '--tables', 'users,transactions')
  expect(rest).toEqual({ users: ['changes', 1], transactions: ['all', 1] })
  expect(await tablesOf('more', '--after', 'rest', '--tables', 'transactions')).toEqual({
    transactions: ['changes', 0],
  })
  const slug = app.organization.slug
  await tablesOf('one', '--tables', 'users', '--organization', slug)
  expect(await tablesOf('next', '--after', 'one', '--tables', 'users', '--organization', slug)).toEqual({
    users: ['changes', 0],
  })
  expect(await tablesOf('all', '--after', 'one', '--tables', 'users')).toEqual({ users: ['all', 2] })
  await app.close()
})

test('windfall export refuses what it cannot do, and leaves no files', async () => {
  const { app, cwd, windfall } = await openExported()
  const cursor = JSON.parse((await windfall('export', 'copy', '--tables', 'apps', '--json')).stdout).cursor
  mkdirSync(join(cwd, 'taken'))
  const other = `c1-9${cursor.slice(3)}`
  for (const [args, status, words] of [
    [['taken'], 1, 'taken exists; name another folder or file'],
    [['no/folder'], 1, 'its folder does not exist'],
    [['new.csv'], 2, 'An export is a folder with a file for each table'],
    [['new', '--format', 'xlsx'], 2, '--format must be one of jsonl, csv, sqlite, not xlsx'],
    [['new', '--tables', 'user'], 2, 'There is no table user. Did you mean users?'],
    [['new', '--after', 'nowhere'], 1, '--after must be a cursor, or the folder of an export'],
    [['new', '--after', 'config.toml'], 1, 'is not the manifest of an export'],
    [['new', '--after', other], 1, 'export without a cursor'],
    [['new', '--organization', 'none'], 1, 'there is no organization none'],
    [[], 2, ''],
  ] as const) {
    const answer = await windfall('export', ...args)
    expect(answer, args.join(' ')).toMatchObject({ status, stdout: '' })
    expect(answer.stderr).toContain(words)
  }
  for (const name of ['new', 'new.csv', 'new.partial', 'no']) expect(existsSync(join(cwd, name))).toBe(false)
  await app.close()
})

test('windfall sql prints rows as columns, CSV and JSON, and why a query is refused', async () => {
  const { app, windfall } = await openExported()
  const sql = 'select app_user_id, attributes from users'
  expect(await windfall('sql', sql)).toMatchObject({
    status: 0,
    stdout: 'app_user_id  attributes\nann          {"name":"Ann, \\"A\\"\\n=1"}\n',
    stderr: '1 row\n',
  })
  expect(await windfall('sql', sql, '--csv')).toMatchObject({
    status: 0,
    stdout: 'app_user_id,attributes\r\nann,"{""name"":""Ann, \\""A\\""\\n=1""}"\r\n',
    stderr: '',
  })
  const asJson = await windfall('sql', '--json', 'select count(*) as users from users')
  expect(JSON.parse(asJson.stdout)).toEqual({ columns: ['users'], rows: [[1]] })
  expect(await windfall('sql', 'delete from users')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('must begin with SELECT'),
  })
  const rows = 'with recursive n(i) as (select 1 union all select i + 1 from n limit 50000)'
  const wide = `${rows} select iif(i = 1, hex(zeroblob(200000)), 'a') as x, i from n`
  const aligned = await windfall('sql', wide)
  expect([aligned.status, aligned.stderr]).toEqual([0, '50,000 rows\n'])
  expect(aligned.stdout.length).toBeLessThan(8_000_000)
  for (const form of [[], ['--json']])
    expect(await windfall('sql', `${rows} select hex(zeroblob(5000)) from n`, ...form)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('larger than 64 MiB'),
    })
  const schema = await windfall('sql', '--schema')
  for (const name of NAMES) expect(schema.stdout).toContain(`${name}: `)
  await app.close()
})

test('the process of a query ends when windfall sql is killed', async () => {
  const { app, cwd } = await openExported()
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n'
  const killed = start(['sql', endless], { cwd })
  const children = `/proc/${killed.pid}/task/${killed.pid}/children`
  const [child = ''] = await vi.waitFor(() => {
    const found = readFileSync(children, 'utf8').trim()
    if (found === '') throw new Error('there is no child process yet')
    return found.split(' ')
  }, 10_000)
  killed.kill('SIGKILL')
  try {
    // An ended process that nothing waited for is a zombie.
    await vi.waitFor(() => {
      const isGone =
        !existsSync(`/proc/${child}`) || readFileSync(`/proc/${child}/stat`, 'utf8').includes(') Z ')
      expect(isGone).toBe(true)
    }, 10_000)
  } finally {
    if (existsSync(`/proc/${child}`)) process.kill(Number(child), 'SIGKILL')
  }
  await app.close()
})
