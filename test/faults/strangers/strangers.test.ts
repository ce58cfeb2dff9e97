import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { atEndOfFile } from '../../closing.ts'
import { folderOf, run, type Serving, startServing } from '../../processes.ts'
import { isLong } from '../../random.ts'
import {
  type Attack,
  callsOfOneSite,
  guesses,
  idleConnections,
  keptAlive,
  unfinishedBodies,
} from './attacks.ts'

/** How long an attack lasts. In a short one every connection is replaced a few times. */
const ATTACK_MS = isLong ? 300_000 : 8_000
const TIMEOUT = { timeout: ATTACK_MS + 60_000 }
const json = { 'content-type': 'application/json' }

const PASSWORD = 'a sentence that nobody guesses'
/** The longest sign-in of the owner while others guess. */
const SIGN_IN_MS = 10_000

let serving: Serving
let secret: string

beforeAll(async () => {
  const cwd = folderOf({ 'config.toml': `[[apps]]\nbundle_id = "${BUNDLE}"\n` })
  serving = await startServing({ cwd })
  const created = await run(['keys', 'create', '--secret', '--json'], { cwd })
  secret = JSON.parse(created.stdout).token
  const token = await serving.until((text) => /\/setup#(\S+)/.exec(text)?.[1])
  expect((await asOwner('/api/v1/setup', { token, password: PASSWORD })).status).toBe(200)
}, 60_000)

/** A request from the dashboard. */
const asOwner = (path: string, body: object, cookie = '') =>
  fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: { ...json, 'sec-fetch-site': 'same-origin', cookie },
    body: JSON.stringify(body),
  })

type Outgoing = { port: number; from: string; lines: readonly string[]; body?: string }

/** Sends a request on a connection of its own. The status of the answer; 0 if there is none. */
function statusOf({ port, from, lines: [first, ...others], body = '' }: Outgoing): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.once('close', () => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0)))
    const headers = ['host: localhost', 'connection: close', `content-length: ${body.length}`]
    socket.write([first, ...headers, ...others, '', body].join('\r\n'))
  })
}

const JSON_TYPE = 'content-type: application/json'
const IDENTIFY = 'POST /api/sdk/v1/identify HTTP/1.1'
const identify = (appUserId: string) => JSON.stringify({ appUserId, bundleId: BUNDLE })

/** The nth call of others, by name, and the status of each that is served. Each user of the app has an own address. */
const callersOf = (port: number) =>
  [
    [
      'notification',
      401,
      () => {
        const lines = ['POST /apple/notifications HTTP/1.1', JSON_TYPE]
        return statusOf({ port, from: '127.0.1.1', lines, body: '{"signedPayload":"a.b.c"}' })
      },
    ],
    [
      'backend',
      200,
      () => {
        const lines = [IDENTIFY, JSON_TYPE, `authorization: Bearer ${secret}`]
        return statusOf({ port, from: '127.0.2.1', lines, body: identify('backend') })
      },
    ],
    [
      'app',
      200,
      (n: number) =>
        statusOf({ port, from: `127.0.3.${n % 250}`, lines: [IDENTIFY, JSON_TYPE], body: identify('app') }),
    ],
    ['health', 200, () => statusOf({ port, from: '127.0.4.1', lines: ['GET /healthz HTTP/1.1'] })],
    ['page', 200, () => statusOf({ port, from: '127.0.5.1', lines: ['GET / HTTP/1.1'] })],
  ] as const

/** Makes the calls of others through a port, each once a second at most. Returns the shares that were served. */
async function servedDuring(attack: Attack, port: number): Promise<Record<string, number>> {
  const began = performance.now()
  const callers = callersOf(port)
  const served = callers.map(() => 0)
  const refused: string[] = []
  let rounds = 0
  while (performance.now() - began < ATTACK_MS) {
    rounds += 1
    for (const [index, [name, expected, call]] of callers.entries()) {
      const status = await call(rounds)
      if (status === expected) served[index] = (served[index] ?? 0) + 1
      else refused.push(`${name}: ${status}`)
    }
    const next = began + rounds * 1_000
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
  }
  attack.stop()
  const shares = Object.fromEntries(callers.map(([name], index) => [name, (served[index] ?? 0) / rounds]))
  process.stdout.write(
    `${rounds} rounds: ${JSON.stringify(shares)}; ${JSON.stringify([...attack.answered])} ${refused.join()}\n`,
  )
  return shares
}

const ALL = { notification: 1, backend: 1, app: 1, health: 1, page: 1 }

const hasCaddy = spawnSync('caddy', ['version']).error === undefined

/** Starts Caddy by the recipe, without TLS. Returns its port. */
async function openCaddy(): Promise<number> {
  const port = await freePort()
  const recipe = readFileSync(new URL('../../../docs/deploy/Caddyfile', import.meta.url), 'utf8')
  const site = recipe
    .replace('windfall.example.com {', `http://:${port} {`)
    .replace('127.0.0.1:8787', `127.0.0.1:${serving.port}`)
    .replace('\tservers {', '\tadmin off\n\tservers {')
  const folder = folderOf({ Caddyfile: site })
  const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn('caddy', args, { env: { PATH: process.env.PATH, ...home }, stdio: 'ignore' })
  atEndOfFile(async () => {
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    await closed
  })
  while ((await statusOf({ port, from: '127.0.4.1', lines: ['GET /healthz HTTP/1.1'] })) !== 200)
    await new Promise((resolve) => setImmediate(resolve))
  return port
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('others are served while a stranger', () => {
  test.each([
    ['keeps 2,300 connections and sends nothing', idleConnections],
    ['keeps 2,300 requests unfinished', unfinishedBodies],
    ['keeps 2,300 connections after their requests', keptAlive],
    ['makes ten calls a second from a /48', callsOfOneSite],
  ])('%s', TIMEOUT, async (_, begin) => {
    expect(await servedDuring(begin({ port: serving.port }), serving.port)).toEqual(ALL)
  })

  test.skipIf(!hasCaddy)('keeps 2,300 requests unfinished, through Caddy', TIMEOUT, async () => {
    const port = await openCaddy()
    expect(await servedDuring(unfinishedBodies({ port }), port)).toEqual(ALL)
  })
})

test('the owner signs in while 200 networks guess the password', TIMEOUT, async () => {
  const signedIn = await asOwner('/api/v1/login', { password: PASSWORD })
  const known = signedIn.headers.getSetCookie()[1]?.split(';')[0] ?? ''
  const attack = guesses({ port: serving.port })
  const began = performance.now()
  while ((attack.answered.get(503) ?? 0) < 50) await new Promise((resolve) => setImmediate(resolve))
  const tried: { cookie: string; status: number; ms: number }[] = []
  while (performance.now() - began < ATTACK_MS || tried.length < 4)
    for (const cookie of [known, '']) {
      const start = performance.now()
      const { status } = await asOwner('/api/v1/login', { password: PASSWORD }, cookie)
      tried.push({ cookie, status, ms: Math.round(performance.now() - start) })
    }
  attack.stop()
  process.stdout.write(`${JSON.stringify({ guesses: [...attack.answered], tried })}\n`)
  expect(tried.filter(({ status, ms }) => status !== 200 || ms > SIGN_IN_MS)).toEqual([])
})
