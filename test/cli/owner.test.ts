import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { folderOf, run, start, startServing } from '../processes.ts'

const LINK = /(http:\/\/127\.0\.0\.1:\d+)\/setup#([\w-]{43})/
const PASSWORD = 'correct horse battery'

const setUp = (url: string, token: string) =>
  fetch(`${url}/api/v1/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password: PASSWORD }),
  })
const sessionState = async (url: string, cookie = '') =>
  ((await (await fetch(`${url}/api/v1/session`, { headers: { cookie } })).json()) as { state: string }).state

test('the first start prints a link, later ones none, and owner reset another while it serves', async () => {
  const cwd = folderOf()
  const first = await startServing({ cwd })
  const [, , token = ''] = await first.until((text) => LINK.exec(text))
  const made = await setUp(first.url, token)
  expect(made.status).toBe(200)
  const cookie = made.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect(await sessionState(first.url, cookie)).toBe('owner')
  first.kill('SIGTERM')
  expect(await first.ended).toMatchObject({ status: 0 })

  const second = await startServing({ cwd })
  await second.until((text) => /Notification URL/.exec(text))
  expect(second.stdout()).not.toMatch(LINK)
  expect(await sessionState(second.url, cookie)).toBe('owner')
  const reset = await run(['owner', 'reset'], { cwd })
  expect(reset).toMatchObject({ status: 0, stderr: expect.stringContaining('The link works once, until ') })
  const [, base, next = ''] = LINK.exec(reset.stdout) ?? []
  expect(base).toBe(second.url)
  expect(await sessionState(second.url, cookie)).toBe('setup')
  expect((await setUp(second.url, token)).status).toBe(401)
  expect((await setUp(second.url, next)).status).toBe(200)
  expect(second.stdout()).not.toContain(next)
})

test('owner reset works on the file where nothing serves it, and needs a file', async () => {
  const cwd = folderOf()
  const server = start(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  await server.until((text) => LINK.exec(text))
  server.kill('SIGTERM')
  await server.ended
  const reset = await run(['owner', 'reset'], { cwd, env: { WINDFALL_BASE_URL: 'https://windfall.example' } })
  expect(reset.stdout).toMatch(/^https:\/\/windfall\.example\/setup#[\w-]{43}\n$/)
})

test('owner reset removes the authenticator app, recovery codes and passkeys', async () => {
  const cwd = folderOf()
  const server = await startServing({ cwd })
  await server.until((text) => LINK.exec(text))
  const db = new Database(join(cwd, 'data/windfall.db'))
  onTestFinished(() => void db.close())
  db.exec(`
    insert into authenticator (id, sealed, last_step, created_at) values (1, 'v1.x', 0, 0);
    insert into recovery_codes (hash) values (x'01');
    insert into passkeys (id, credential_id, public_key, host, name, transports, is_synced, counter, created_at)
      values ('psk_1', 'a', x'a0', 'localhost', 'Mac', '[]', 0, 0, 0)`)
  const reset = await run(['owner', 'reset'], { cwd })
  expect(reset).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('the authenticator app and passkeys'),
  })
  const left = db.prepare(`
    select (select count(*) from authenticator) + (select count(*) from recovery_codes) + (select count(*) from passkeys) as rows`)
  expect(left.get()).toEqual({ rows: 0 })
})
