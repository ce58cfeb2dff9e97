import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { type Authority, openAuthority } from '../../src/demo/signing/authority.ts'
import { APPLE_ID, BUNDLE, NOW, renewedPayload } from '../apple/samples.ts'
import { expectErrorsInFile } from '../guards/error_lines.ts'
import { dial, post, problemIn, response, sendRaw } from '../http/wire.ts'
import { folderOf, run, type Serving, start, startServing } from '../processes.ts'
import { bundledServing } from './bundled.ts'

// The server outlives its test.
expectErrorsInFile('the configuration is invalid and was not reloaded')

const app = (bundle: string) => `[[apps]]\nbundle_id = "${bundle}"\n`
/** Long timeouts, so that only the tested behavior ends a request. */
const PATIENT =
  '[server]\nheaders_timeout_seconds = 600\nrequest_timeout_seconds = 600\nshutdown_seconds = 600\n'

const identify = (user: string) =>
  post('/api/sdk/v1/identify', JSON.stringify({ appUserId: user, bundleId: BUNDLE }))

const statusOf = (answer: string): number => Number(answer.slice(9, 12))

/** Returns the users in a database whose process has ended. */
function usersIn(cwd: string): unknown[] {
  const db = new Database(join(cwd, 'data/windfall.db'), { readonly: true })
  const users = db.prepare('select app_user_id from users order by rowid').pluck().all()
  db.close()
  return users
}

/** Opens a connection on which half of a request has arrived. The server has read everything sent before it. */
async function sendAllBut({ port }: Serving, whole: Buffer, left: number) {
  const socket = await dial(port)
  socket.write(whole.subarray(0, -left))
  await sendRaw(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return { finish: () => finish(socket, whole.subarray(-left)) }
}

function finish(socket: Socket, rest: Buffer): Promise<string> {
  const answer = response(socket)
  socket.write(rest)
  return answer
}

/** The first line of a server that waits for the lock of another process. */
const WAITING = 'waiting up to 5 seconds for the process that has the database open'

test('refuses a second process on the same file with the pid of the first, and starts after SIGKILL', async () => {
  const cwd = folderOf()
  const first = await startServing({ cwd })
  const second = await run(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  expect(second.status).toBe(1)
  expect(JSON.parse(second.stdout)).toMatchObject({ message: WAITING, holder: `process ${first.pid}` })
  expect(second.stderr).toBe(
    `${cwd}/data/windfall.db is being served by process ${first.pid}; only one process can serve a database. Stop it first, or use a copy\n`,
  )
  expect(statusOf(await sendRaw(first.port, 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n'))).toBe(200)

  first.kill('SIGKILL')
  await first.ended
  const third = await startServing({ cwd })
  expect((await run(['serve'], { cwd })).stderr).toContain(`process ${third.pid};`)
  third.kill('SIGTERM')
  expect((await third.ended).status).toBe(0)
})

test('a server that is started while another still has the database serves as soon as that one ends', async () => {
  const cwd = folderOf()
  const first = await startServing({ cwd })
  const second = start(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  await second.logged(WAITING)
  first.kill('SIGKILL')
  await first.ended
  await second.logged('serving')
  second.kill('SIGTERM')
  expect((await second.ended).status).toBe(0)
})

test('a server that waits for the database ends at once on SIGTERM', async () => {
  const cwd = folderOf()
  await startServing({ cwd })
  const second = start(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  await second.logged(WAITING)
  second.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ signal: 'SIGTERM', stderr: '' })
})

test('on SIGTERM, reports not ready, ends streams, finishes running work and keeps every answered call', async () => {
  const cwd = folderOf({ 'config.toml': PATIENT + app(BUNDLE) })
  const running = await startServing({ cwd })
  const token = (await run(['tokens', 'create'], { cwd })).stdout.trim().split('  ')[1]
  const stream = await fetch(`${running.url}/api/v1/events/stream`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const reader = stream.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('retry: 2000\n\n')
  const users = Array.from({ length: 30 }, (_, n) => `user-${n}`)
  for (const user of users) expect(statusOf(await sendRaw(running.port, identify(user)))).toBe(200)

  const halfBody = await sendAllBut(running, identify('slow'), 5)
  const readyz = Buffer.from('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const halfHead = await sendAllBut(running, readyz, 2)
  running.kill('SIGTERM')
  await running.logged('stopping')
  // The stream sends its remaining data and then ends.
  while (reader && !(await reader.read()).done);
  const ready = await halfHead.finish()
  expect(statusOf(ready)).toBe(503)
  expect(ready).toContain('"shutting_down":true')
  expect(ready).toMatch(/\r\nconnection: close\r\n/i)
  await expect(dial(running.port)).rejects.toThrow('ECONNREFUSED')
  expect(statusOf(await halfBody.finish())).toBe(200)

  expect(await running.ended).toMatchObject({ status: 0, signal: null, stderr: '' })
  expect(running.lines().at(-1)?.message).toBe('stopped')
  const left = ['-wal', '-shm', '.pid', '.sock'].filter((end) => existsSync(`${cwd}/data/windfall.db${end}`))
  expect(left).toEqual([])
  expect(usersIn(cwd)).toEqual([...users, 'slow'])
})

test.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
] as const)('a second signal ends the server immediately (%s, then %s)', async (first, second) => {
  const cwd = folderOf({ 'config.toml': PATIENT + app(BUNDLE) })
  const running = await startServing({ cwd })
  expect(statusOf(await sendRaw(running.port, identify('known')))).toBe(200)
  await sendAllBut(running, identify('slow'), 5)
  running.kill(first)
  await running.logged('stopping')
  running.kill(second)
  expect(await running.ended).toMatchObject({ status: 130, signal: null })
  expect(usersIn(cwd)).toEqual(['known'])
})

test('reports why it cannot start, and exits', async () => {
  const first = await startServing({ cwd: folderOf() })
  const env = { WINDFALL_SERVER_PORT: String(first.port) }
  const taken = await run(['serve'], { cwd: folderOf(), env })
  expect(taken).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      `^Port ${first.port} of 127.0.0.1 is already in use. Stop the process that listens there`,
    ),
  })

  const cwd = folderOf()
  mkdirSync(join(cwd, 'data/windfall.db.sock'), { recursive: true })
  const blocked = await run(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  expect(blocked.status).toBe(1)
  expect(blocked.stderr).toContain('windfall.db.sock')
})

test('keeps running when its output is no longer read', async () => {
  const cwd = folderOf({ 'config.toml': app(BUNDLE) })
  const running = await startServing({ cwd })
  running.hangUp()
  for (const user of ['one', 'two', 'three'])
    expect(statusOf(await sendRaw(running.port, identify(user)))).toBe(200)
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ status: 0, stderr: '' })
  expect(usersIn(cwd)).toEqual(['one', 'two', 'three'])
})

/** Starts a server whose config.toml the test can replace. */
async function startReloading(toml: string, more: { entry?: string; env?: Record<string, string> } = {}) {
  const cwd = folderOf({ 'config.toml': toml })
  const running = await startServing({ cwd, ...more })
  return {
    ...running,
    cwd,
    reload(next: string): void {
      writeFileSync(join(cwd, 'config.toml'), next)
      running.kill('SIGHUP')
    },
    identify: async (user: string) => statusOf(await sendRaw(running.port, identify(user))),
  }
}

test('SIGHUP applies limits and the log level, and lists what needs a restart', async () => {
  const limited = (n: number) => `[limits]\nsdk_requests_per_minute = ${n}\n`
  const running = await startReloading(limited(1) + app(BUNDLE))
  expect(await running.identify('one')).toBe(200)
  expect(await running.identify('two')).toBe(429)

  const quieter = `${limited(100)}[log]\nlevel = "warn"\n[server]\nkeep_alive_seconds = 7\n${app(BUNDLE)}`
  running.reload(quieter)
  const warnings = await running.logged('configuration reloaded; some changes need a restart')
  expect(warnings).toMatchObject({
    level: 'warn',
    taken_over: ['log.level', 'limits.sdk_requests_per_minute'],
    needs_a_restart: ['server.keep_alive_seconds'],
  })
  expect(await running.identify('three')).toBe(200)
  expect(await running.identify('four')).toBe(200)

  running.reload(limited(100) + app(BUNDLE))
  expect(await running.logged('configuration reloaded')).toMatchObject({
    taken_over: ['log.level'],
    needs_a_restart: [],
  })
  expect(await running.identify('five')).toBe(200)
  await running.until((text) => text.split('/api/sdk/v1/identify').length === 4 || null)
  const statuses = running.lines().filter(({ message }) => message === 'request')
  expect(statuses.map(({ status }) => status)).toEqual([200, 429, 200])
})

test('SIGHUP with an invalid config is reported, and the previous one stays in effect', async () => {
  const running = await startReloading(app(BUNDLE))
  running.reload(
    `${app('com.example.other')}[server]\nprot = 1\n[limits]\nsdk_requests_per_minute = "many"\n`,
  )
  const { level, why } = await running.logged(
    'the configuration is invalid and was not reloaded; the previous one stays in effect',
  )
  expect(level).toBe('error')
  expect(why).toEqual([
    'config.toml:4  server.prot  unknown setting. Did you mean server.port?',
    expect.stringContaining('config.toml:6  limits.sdk_requests_per_minute'),
  ])
  expect(await running.identify('anybody')).toBe(200)

  rmSync(join(running.cwd, 'config.toml'))
  running.kill('SIGHUP')
  await running.until((text) => text.split('config.toml is gone').length > 1 || null)
  expect(await running.identify('anybody')).toBe(200)
  expect((await run(['apps', 'list'], running)).stdout).not.toContain('com.example.other')
})

let authority: Authority
let entry: string
beforeAll(async () => {
  authority = await openAuthority({ now: NOW })
  entry = await bundledServing()
})

test('SIGHUP connects new apps, applies their pending notifications, and disconnects removed apps', async () => {
  const env = { ROOT_PEM: authority.root_pem }
  const running = await startReloading(app('com.example.other'), { entry, env })
  const token = (await run(['tokens', 'create'], running)).stdout.trim().split('  ')[1]
  const read = async (path: string) => {
    const answer = await fetch(`${running.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
    return answer.json() as Promise<Record<string, { bundle_id: string; type: string; origin: string }[]>>
  }
  const notify = async (uuid: string) => {
    const payload = renewedPayload(authority, { outer: { notificationUUID: uuid } })
    const body = JSON.stringify({ signedPayload: authority.sign(payload) })
    const answer = await sendRaw(running.port, post('/apple/notifications', body))
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
  }
  expect(await notify('before')).toEqual({ applied: 0, duplicates: 0, pending: true })

  running.reload(`${app(BUNDLE)}apple_id = ${APPLE_ID}\n`)
  expect(await running.logged('applied pending notifications')).toMatchObject({ applied: 1 })
  await running.logged('configuration reloaded')
  const { events = [] } = await read('/api/v1/events')
  expect(events.map(({ type, origin }) => `${origin} ${type}`)).toEqual(['recovered subscription.renewed'])
  const { apps = [] } = await read('/api/v1/apps')
  expect(apps.map(({ bundle_id }) => bundle_id)).toEqual([BUNDLE])
  expect(await notify('between')).toEqual({ applied: 1, duplicates: 0, pending: false })
  expect(await running.identify('someone')).toBe(200)

  running.reload(app('com.example.other'))
  await running.until((text) => text.split('configuration reloaded').length === 3 || null)
  const gone = await sendRaw(running.port, identify('someone'))
  expect(problemIn(gone)).toMatchObject({ status: 404, code: 'unknown_app' })
  expect(await notify('after')).toEqual({ applied: 0, duplicates: 0, pending: true })
})
