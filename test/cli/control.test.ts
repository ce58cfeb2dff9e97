import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { expect, onTestFinished, test, vi } from 'vitest'
import { callControl, openControl, verb } from '../../src/control/socket.ts'
import { openLog } from '../../src/log.ts'
import { expectErrorsInFile } from '../guards/error_lines.ts'
import { folderOf, run, startServing } from '../processes.ts'

expectErrorsInFile('a command failed', 'the configuration is invalid and was not reloaded')

const BUNDLE = 'com.example.lantern'

/** What the control socket answers to these bytes as a body. */
function sendRaw(socketPath: string, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method: 'POST' }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve(JSON.parse(text)))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

test('the control socket is the owner’s alone and lives through junk', async () => {
  const cwd = folderOf()
  const serving = await startServing({ cwd })
  const socket = join(cwd, 'data/windfall.db.sock')
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  expect(statSync(join(cwd, 'data')).mode & 0o777).toBe(0o700)
  const junk = ['', 'no json', '[]', '{"verb":7}', '{"args":{}}', `{"verb":"${'x'.repeat(1_000_000)}"}`]
  const verbs = ['apps.eat', '__proto__', 'constructor', 'toString']
  const wrong = [
    '{"verb":"apps.add"}',
    '{"verb":"apps.add","args":{"bundle_id":7}}',
    '{"verb":"backup","args":[]}',
  ]
  for (const body of [...junk, ...wrong, ...verbs.map((verb) => JSON.stringify({ verb, args: {} }))]) {
    expect(await sendRaw(socket, body)).toEqual({
      refusal: { status: expect.any(Number), code: expect.any(String), detail: expect.any(String) },
    })
  }
  const noise = connect(socket).resume()
  noise.end('\u0000\u0001 this is no HTTP\r\n\r\n')
  await new Promise((resolve) => noise.once('close', resolve))
  expect((await run(['apps', 'list'], { cwd })).status).toBe(0)
  expect((await fetch(`${serving.url}/readyz`)).status).toBe(200)
})

test('reload makes the server read its configuration again, and says what changed', async () => {
  const cwd = folderOf()
  const stopped = 'no server runs with this database; it reads the configuration at its start\n'
  expect(await run(['reload'], { cwd })).toMatchObject({ status: 1, stderr: stopped })
  await startServing({ cwd })
  const nothing = 'The server has read the configuration: nothing changed at once.\n'
  expect(await run(['reload'], { cwd })).toMatchObject({ status: 0, stdout: nothing, stderr: '' })
  writeFileSync(
    join(cwd, 'config.toml'),
    '[limits]\nsdk_requests_per_minute = 3\n[server]\nkeep_alive_seconds = 7\n',
  )
  const stdout = 'The server has read the configuration. Changed: limits.sdk_requests_per_minute\n'
  const stderr = 'These need a restart: server.keep_alive_seconds\n'
  expect(await run(['reload'], { cwd })).toMatchObject({ status: 0, stdout, stderr })
  writeFileSync(join(cwd, 'config.toml'), '[limits]\nsdk_requests_per_minute = "many"\n')
  const invalid = await run(['reload'], { cwd })
  expect(invalid).toMatchObject({ status: 2, stdout: '' })
  expect(invalid.stderr).toContain('limits.sdk_requests_per_minute')
})

test('the log tells each command that may change something, and no look', async () => {
  const logged: string[] = []
  const log = openLog({ format: 'json', level: 'info', write: (text) => void logged.push(String(text)) })
  const nothing = verb(v.object({}), () => null)
  const path = join(folderOf(), 'windfall.db')
  const names = ['imports.status', 'apps.list', 'imports.run', 'rates.show', 'refused.raw']
  const control = await openControl(path, Object.fromEntries(names.map((name) => [name, nothing])), log)
  for (const name of [...names, 'imports.status'])
    expect(await callControl(path, name, {})).toEqual({ result: null })
  await control.close()
  log.flush()
  expect(logged.join('').match(/(imports|apps|rates|refused)\.\w+/g)).toEqual(['imports.run'])
})

test('a server that ends before it answers is told of in words', async () => {
  const cwd = folderOf()
  mkdirSync(join(cwd, 'data'))
  const resetServer = createServer((socket) => socket.once('data', () => socket.destroy()))
  resetServer.listen(join(cwd, 'data/windfall.db.sock'))
  expect(await run(['apps', 'list'], { cwd })).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'the server stopped before it answered; check whether the command took effect\n',
  })
  resetServer.close()
})

/** The private folder for sockets below a folder for temporary files. */
const socketsIn = (tmp: string): string => join(tmp, `windfall-${process.getuid?.()}`)

test('where the path of the database is too long the socket lies in a private folder', async () => {
  const cwd = folderOf()
  const TMPDIR = folderOf()
  const env = { TMPDIR, WINDFALL_STORE_PATH: `${'deep/'.repeat(30)}windfall.db` }
  const serving = await startServing({ cwd, env })
  expect(readdirSync(TMPDIR)).toEqual([basename(socketsIn(TMPDIR))])
  expect(statSync(socketsIn(TMPDIR)).mode & 0o777).toBe(0o700)
  const [socket = ''] = readdirSync(socketsIn(TMPDIR))
  expect(socket).toMatch(/^[0-9a-f]{16}\.sock$/)
  expect(statSync(join(socketsIn(TMPDIR), socket)).mode & 0o777).toBe(0o600)
  expect((await run(['apps', 'add', BUNDLE], { cwd, env })).stdout).toContain('is connected')
  await serving.logged('command', ({ verb }) => verb === 'apps.add')
  serving.kill('SIGTERM')
  expect((await serving.ended).status).toBe(0)
  expect(readdirSync(socketsIn(TMPDIR))).toEqual([])
})

const silent = openLog({ format: 'json', level: 'error', write: () => undefined })

test('where others can write the folder of the database the socket lies in the private folder, too', async () => {
  const TMPDIR = folderOf()
  vi.stubEnv('TMPDIR', TMPDIR)
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = folderOf()
  chmodSync(folder, 0o775)
  const file = join(folder, 'windfall.db')
  const control = await openControl(file, { ping: verb(v.object({}), () => 'pong') }, silent)
  onTestFinished(control.close)
  expect(readdirSync(folder)).toEqual([])
  expect(readdirSync(socketsIn(TMPDIR))).toHaveLength(1)
  expect(await callControl(file, 'ping', {})).toEqual({ result: 'pong' })
  chmodSync(socketsIn(TMPDIR), 0o777)
  await expect(openControl(file, {}, silent)).rejects.toMatchObject({ code: 'untrusted_folder' })
  await expect(callControl(file, 'ping', {})).rejects.toMatchObject({ code: 'untrusted_socket' })
})

test('ignores a socket in a folder that others can write to, and files that are not sockets', async () => {
  const folder = folderOf()
  const file = join(folder, 'windfall.db')
  const control = await openControl(file, { ping: verb(v.object({}), () => 'pong') }, silent)
  onTestFinished(control.close)
  expect(await callControl(file, 'ping', {})).toEqual({ result: 'pong' })
  chmodSync(folder, 0o777)
  await expect(callControl(file, 'ping', {})).rejects.toThrow(/other users can write \(chmod go-w\)/)
  chmodSync(folder, 0o700)
  const other = join(folder, 'other.db')
  symlinkSync(`${file}.sock`, `${other}.sock`)
  await expect(callControl(other, 'ping', {})).rejects.toMatchObject({ code: 'untrusted_socket' })
})

test('no secret reaches the log, in any position of a request', async () => {
  const secret = `sk_live_${'5ec2e7'.repeat(6)}`
  const organization = '[[organizations]]\nslug = "acme"\nsecret_key_file = "key"\n'
  const app = `[[apps]]\nbundle_id = "${BUNDLE}"\n`
  const cwd = folderOf({ key: secret, 'config.toml': organization + app })
  const env = { WINDFALL_LOG_FORMAT: 'json', WINDFALL_LOG_LEVEL: 'debug' }
  const serving = await startServing({ cwd, env })
  const made = await Promise.all(
    ['keys create', 'keys create --secret', 'tokens create'].map((args) => run(args.split(' '), { cwd })),
  )
  const secrets = [
    secret,
    `dt_${'d'.repeat(40)}`,
    ...made.map(({ stdout }) => stdout.trim().split('  ')[1] ?? ''),
  ]
  for (const one of secrets) {
    const authorization = `Bearer ${one}`
    const paths = ['/readyz', '/api/v1/events', `/api/v1/events?type=${one}`, `/nowhere/${one}`, `/${one}%ZZ`]
    for (const path of paths) await fetch(`${serving.url}${path}`, { headers: { authorization } })
    for (const body of ['{', `{"${one}":1}`, JSON.stringify({ appUserId: one, bundleId: BUNDLE })]) {
      const headers = { authorization, cookie: one, 'content-type': 'application/json' }
      await fetch(`${serving.url}/api/sdk/v1/identify`, { method: 'POST', headers, body })
      await fetch(`${serving.url}/apple/notifications`, { method: 'POST', headers, body })
    }
    for (const body of [one, JSON.stringify({ verb: one, args: {} })])
      await sendRaw(join(cwd, 'data/windfall.db.sock'), body)
  }
  writeFileSync(join(cwd, 'config.toml'), `${organization}secret_key = "${secret}"\n${app}`)
  serving.kill('SIGHUP')
  await serving.logged('the configuration is invalid and was not reloaded; the previous one stays in effect')
  serving.kill('SIGTERM')
  const { stdout, stderr } = await serving.ended
  expect(stdout.split('\n').length).toBeGreaterThan(50)
  expect(new Set(secrets).size).toBe(5)
  for (const one of secrets) expect(stdout + stderr).not.toContain(one.slice(-24))
})
