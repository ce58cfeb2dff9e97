/** `windfall health` against servers that are ready, starting, failing or absent. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { folderOf, run, startServing } from '../processes.ts'

/** A server that answers every request like this. */
async function openServer(status: number, body: string): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const health = (...args: string[]) => run(['health', ...args], { cwd: folderOf() })

test('a server is asked at the port where it listens', async () => {
  const cwd = folderOf()
  const { url } = await startServing({ cwd })
  const ready = { status: 0, stderr: '', stdout: `${url} is ready.\n` }
  expect(await run(['health'], { cwd })).toEqual({ ...ready, signal: null })
  expect(await health('--url', url)).toMatchObject(ready)
  const { stdout } = await run(['health', '--json'], { cwd })
  expect(JSON.parse(stdout)).toEqual({
    url,
    status: 'ready',
    reasons: [],
    checks: {
      database_writable: true,
      shutting_down: false,
      root_certificate_valid: true,
      alerts_running: true,
      forwarding_running: true,
    },
  })
})

test('--wait waits for a start', async () => {
  const cwd = folderOf()
  // With port 0 the address can only come from the control socket. Another server may use the default port.
  const waiting = run(['health', '--wait', '60'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  const { url } = await startServing({ cwd })
  expect(await waiting).toMatchObject({ status: 0, stdout: `${url} is ready.\n` })
})

test('the reasons of a server that is not ready are printed', async () => {
  const checks = { database_writable: false, shutting_down: true, root_certificate_valid: false }
  const url = await openServer(503, JSON.stringify({ status: 'not_ready', checks, jobs: [] }))
  expect(await health('--url', url)).toMatchObject({
    status: 1,
    stdout: `${url} is not ready: the database cannot be written (npm run -s windfall -- doctor says why); the server is shutting down; Apple’s root certificate has expired (update Windfall).\n`,
  })
  const { status, stdout } = await health('--url', url, '--json')
  expect([status, JSON.parse(stdout)]).toEqual([
    1,
    { url, status: 'not_ready', checks, reasons: expect.arrayContaining(['the server is shutting down']) },
  ])
})

test('a server whose alerts an error has stopped is ready, with the reason', async () => {
  const checks = {
    database_writable: true,
    shutting_down: false,
    root_certificate_valid: true,
    alerts_running: false,
  }
  const url = await openServer(200, JSON.stringify({ status: 'degraded', checks, jobs: [] }))
  expect(await health('--url', url)).toMatchObject({
    status: 0,
    stdout: `${url} is ready, but an error has stopped alerts (npm run -s windfall -- doctor says which).\n`,
  })
})

test('a server that starts, another server and no server are not ready', async () => {
  const starting = await openServer(503, '{"code":"starting","detail":"The server is starting. Try again."}')
  const other = await openServer(200, '<html>')
  const answers = await Promise.all([
    health('--url', starting),
    health('--url', other),
    health('--wait', '1', '--url', 'http://127.0.0.1:1'),
    run(['health'], { cwd: folderOf(), env: { WINDFALL_SERVER_PORT: '1', WINDFALL_SERVER_HOST: '0.0.0.0' } }),
    run(['health', '--wait', '2'], { cwd: folderOf(), env: { WINDFALL_SERVER_PORT: '1' } }),
  ])
  expect(answers.map(({ status, stderr }) => [status, stderr])).toEqual(Array(5).fill([1, '']))
  expect(answers.map(({ stdout }) => stdout)).toEqual([
    `${starting} is not ready: The server is starting. Try again.\n`,
    `${other} is not ready: it answered 200, and not as Windfall does.\n`,
    expect.stringContaining('http://127.0.0.1:1 is not ready: it cannot be reached (connect ECONNREFUSED'),
    expect.stringContaining('http://127.0.0.1:1 is not ready: it cannot be reached'),
    expect.stringContaining('http://127.0.0.1:1 is not ready: it cannot be reached'),
  ])
})

test('wrong usage and a wrong configuration end with exit code 2', async () => {
  const answers = await Promise.all([
    health('--wait', 'long'),
    health('--url', '127.0.0.1:8787'),
    health('--wait', '60', '--config', 'missing.toml'),
  ])
  expect(answers.map(({ status, stdout }) => [status, stdout])).toEqual([
    [2, ''],
    [2, ''],
    [2, ''],
  ])
})

test('a server that hangs does not answer in time', async () => {
  const cwd = folderOf()
  const server = await startServing({ cwd })
  server.kill('SIGSTOP')
  const { status, stdout } = await run(['health', '--wait', '1'], {
    cwd,
    env: { WINDFALL_SERVER_PORT: String(server.port) },
  })
  server.kill('SIGCONT')
  expect([status, stdout]).toEqual([1, `${server.url} is not ready: it did not answer within 1 s.\n`])
})
