/** The recipes of docs/deploy with the real Caddy and nginx in front of a real server. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { atEndOfFile } from '../closing.ts'
import { blocksOf } from '../docs/snippets.ts'
import { folderOf, run, type Serving, startServing } from '../processes.ts'

const HOST = 'windfall.example.com'
const BUNDLE = 'com.example.lantern'
/** The loopback address of the client; the proxies have another one. */
const CLIENT = '127.0.0.2'
const FORGED = '203.0.113.66'
const TIMEOUT = { timeout: 30_000 }
const MAX_CONNECTIONS = 64

const recipe = (name: string): string =>
  readFileSync(new URL(`../../docs/deploy/${name}`, import.meta.url), 'utf8')

function has(program: string, check: string[]): boolean {
  const isThere = spawnSync(program, check).error === undefined
  if (!isThere) process.stderr.write(`\n*** ${program} is missing: its recipe is NOT TESTED.\n\n`)
  return isThere
}

/** Replaces a text that the recipe must contain. */
function replaced(from: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((recipeText, [old, now]) => {
    expect(recipeText).toContain(old)
    return recipeText.replaceAll(old, now)
  }, from)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A program that runs until the tests of the file end. */
function startProxy(program: string, args: string[], env: Record<string, string>): { output(): string } {
  const child: ChildProcess = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  atEndOfFile(async () => {
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    await closed
  })
  return { output: () => output }
}

type Front = { port: number; log(): string }

/** Sends a request through the proxy, as a client that claims another address. */
function send(
  front: Front,
  path: string,
  options: RequestOptions & { body?: string } = {},
): Promise<IncomingMessage> {
  const { body, headers, ...rest } = options
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: front.port,
        servername: HOST,
        localAddress: CLIENT,
        rejectUnauthorized: false,
        path,
        // Caddy finds the log of a site by the host with its port.
        headers: { host: `${HOST}:${front.port}`, 'x-forwarded-for': FORGED, ...headers },
        ...rest,
      },
      resolve,
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const post = (front: Front, path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(front, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

/** Sends a request without the end of its body. `ended` resolves when the proxy has answered or closed. */
function sendUnfinished(front: Front): { outgoing: ClientRequest; ended: Promise<unknown> } {
  const outgoing = request({
    host: '127.0.0.1',
    port: front.port,
    servername: HOST,
    localAddress: CLIENT,
    rejectUnauthorized: false,
    agent: false,
    method: 'POST',
    path: '/api/sdk/v1/identify',
    headers: { host: HOST, 'content-type': 'application/json', 'content-length': 100 },
  })
  outgoing.on('error', () => undefined)
  outgoing.on('response', (answer) => answer.resume())
  outgoing.write('{')
  return { outgoing, ended: new Promise((resolve) => outgoing.once('close', resolve)) }
}

/** Keeps this many requests unfinished until the returned function is called. */
function keepUnfinished(front: Front, count: number): () => Promise<void> {
  const open = new Set<ClientRequest>()
  let isOver = false
  async function keep(): Promise<void> {
    while (!isOver) {
      const { outgoing, ended } = sendUnfinished(front)
      open.add(outgoing)
      await ended
      open.delete(outgoing)
    }
  }
  const all = Array.from({ length: count }, keep)
  return async () => {
    isOver = true
    for (const outgoing of open) outgoing.destroy()
    await Promise.all(all)
  }
}

/** Resolves once the proxy has a certificate and answers. */
async function answering(front: Front): Promise<void> {
  for (;;) {
    const status = await send(front, '/readyz').then(
      (answer) => answer.resume().statusCode,
      () => null,
    )
    if (status === 200) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

let serving: Serving
let cwd: string

async function openCaddy(): Promise<Front> {
  const folder = folderOf()
  const port = await freePort()
  const site = replaced(recipe('Caddyfile'), [
    [`${HOST} {`, `https://${HOST}:${port} {\n\ttls internal\n\tbind 127.0.0.1`],
    ['127.0.0.1:8787', `127.0.0.1:${serving.port}`],
    ['\tservers {', '\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tservers {'],
    ['read_body 10s', 'read_body 1s'],
  ])
  writeFileSync(join(folder, 'Caddyfile'), site)
  const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const { output } = startProxy('caddy', args, home)
  const front = { port, log: () => output() }
  await answering(front)
  return front
}

async function openNginx(): Promise<Front> {
  const folder = folderOf()
  const [port, redirecting] = [await freePort(), await freePort()]
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  spawnSync('openssl', [...made, '-keyout', key, '-out', certificate, '-days', '1', '-subj', `/CN=${HOST}`])
  const site = replaced(recipe('nginx.conf'), [
    ['listen 80;', `listen 127.0.0.1:${redirecting};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    [`/etc/letsencrypt/live/${HOST}/fullchain.pem`, certificate],
    [`/etc/letsencrypt/live/${HOST}/privkey.pem`, key],
    ['/var/log/nginx/', `${folder}/`],
    ['127.0.0.1:8787', `127.0.0.1:${serving.port}`],
    ['client_body_timeout 5s', 'client_body_timeout 1s'],
  ])
  writeFileSync(join(folder, 'windfall.conf'), site)
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log ${folder}/start.log;\nevents {}\nhttp { ${folders.join(' ')}\ninclude ${folder}/windfall.conf; }\n`,
  )
  startProxy('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'start.log')], {})
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
  const front = { port, log: () => ['windfall.log', 'windfall.error.log', 'start.log'].map(read).join('') }
  await answering(front)
  return front
}

beforeAll(async () => {
  const settings = [
    '[server]',
    'trusted_proxies = ["127.0.0.1/32"]',
    `max_connections = ${MAX_CONNECTIONS}`,
    // Longer than a test: a slow request must not wait for Windfall to end it.
    'request_timeout_seconds = 60',
    '[[apps]]',
    `bundle_id = "${BUNDLE}"`,
  ]
  cwd = folderOf({ 'config.toml': `base_url = "https://${HOST}"\n${settings.join('\n')}\n` })
  serving = await startServing({ cwd })
})

const windfall = (...args: string[]) => run(args, { cwd })

const hasCaddy = has('caddy', ['version'])

describe.each([
  ['Caddy', openCaddy, hasCaddy],
  ['nginx', openNginx, has('nginx', ['-v']) && has('openssl', ['version'])],
] as const)('%s', (_, open, isThere) => {
  if (!isThere) return test.skip('is missing', () => {})
  let front: Front
  beforeAll(async () => {
    front = await open()
  }, 30_000)

  test('passes events as they happen, and for longer than it waits for a body', TIMEOUT, async () => {
    const { stdout } = await windfall('tokens', 'create')
    const authorization = `Bearer ${/wf_\w+/.exec(stdout)?.[0]}`
    const stream = await send(front, '/api/v1/events/stream', { headers: { authorization } })
    expect(stream.statusCode).toBe(200)
    const user = `user-${front.port}`
    const received = (async () => {
      let soFar = ''
      for await (const chunk of stream) {
        soFar += chunk
        if (soFar.includes(user)) return soFar
      }
      return soFar
    })()
    await sendUnfinished(front).ended
    const call = await post(front, '/api/sdk/v1/identify', { appUserId: user, bundleId: BUNDLE })
    expect(call.resume().statusCode).toBe(200)
    expect(await received).toContain('customer.identified')
    stream.destroy()
  })

  test('passes the address of the client, not the one that it claims', TIMEOUT, async () => {
    const answer = await post(front, '/apple/notifications', { signedPayload: 'a.b.c' })
    expect(answer.resume().statusCode).toBe(401)
    const { stdout } = await windfall('refused', 'list')
    expect(stdout).toContain(CLIENT)
    expect(stdout).not.toContain(FORGED)
  })

  test('leaves it to Windfall to refuse a large body', TIMEOUT, async () => {
    const fitting = await post(front, '/apple/notifications', { signedPayload: 'a'.repeat(1_000_000) })
    expect(fitting.resume().statusCode).toBe(401)
    const tooLarge = await post(front, '/apple/notifications', { signedPayload: 'a'.repeat(2_000_000) })
    // Windfall answers before the body has arrived. A proxy that is still sending it may answer 502 itself.
    expect([413, 502]).toContain(tooLarge.statusCode)
    const answered = await text(tooLarge)
    if (tooLarge.statusCode === 413) expect(JSON.parse(answered)).toMatchObject({ code: 'too_large' })
  })

  test(
    'serves others while a client keeps more requests unfinished than connections exist',
    TIMEOUT,
    async () => {
      const stop = keepUnfinished(front, 2 * MAX_CONNECTIONS)
      const statuses: (number | undefined)[] = []
      for (let n = 0; n < 20; n += 1) {
        const options = { localAddress: `127.0.7.${n + 1}`, agent: false }
        const answer = await send(front, '/readyz', options)
        statuses.push(answer.resume().statusCode)
      }
      await stop()
      expect(statuses).toEqual(Array(20).fill(200))
    },
  )

  test('logs requests without tokens, cookies, queries and user ids', TIMEOUT, async () => {
    const secrets = [
      'wf_secretsecret',
      'link-secret',
      'session-secret',
      'ann@example.com',
      'referring-secret',
      'wd_secretsecret',
      'secret-of-a-button',
    ]
    const [token, query, cookie, user, referer, widget, button] = secrets
    const headers = {
      authorization: `Bearer ${token}`,
      cookie: `__Host-session=${cookie}`,
      referer: `https://x/?${referer}`,
    }
    const paths = [
      `/api/v1/users/${user}?app=${query}`,
      `/share?token=${query}`,
      `/api/v1/events/stream?token=${token}`,
      `/widget/v1/${widget}.json`,
      `/badge/v1/${widget}.svg`,
      `/api/v1/alerts/mute/alm_1.alc_1.${button}`,
    ]
    for (const path of paths) {
      const answer = await send(front, path, { headers })
      answer.resume()
      await new Promise((resolve) => answer.once('close', resolve))
    }
    while (!front.log().includes('/share')) await new Promise((resolve) => setImmediate(resolve))
    await send(front, '/last-request').then((answer) => text(answer))
    while (!front.log().includes('/last-request')) await new Promise((resolve) => setImmediate(resolve))
    expect(front.log()).toContain('/api/v1/users/…')
    for (const secret of secrets) expect(front.log()).not.toContain(secret)
  })
})

test('the tunnel leads to the default address, with a log that names no request', () => {
  const lines = recipe('cloudflared.yml')
    .split('\n')
    .map((line) => line.trim())
  expect(lines).toEqual(expect.arrayContaining(['service: http://127.0.0.1:8787', 'loglevel: info']))
})

test.skipIf(!hasCaddy)('the short form for Caddy in README.md proxies as the recipe does', () => {
  const [{ text: short = '' } = {}] = blocksOf('README.md').filter(({ language }) => language === 'caddy')
  const handlersOf = (caddyfile: string) => {
    const folder = folderOf({ Caddyfile: caddyfile })
    const args = ['adapt', '--adapter', 'caddyfile', '--config', 'Caddyfile']
    const { stdout } = spawnSync('caddy', args, { cwd: folder, encoding: 'utf8' })
    return JSON.parse(stdout).apps.http.servers.srv0.routes
  }
  expect(handlersOf(short)).toEqual(handlersOf(recipe('Caddyfile')))
})
