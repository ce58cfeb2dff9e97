import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { hostName, openHosts } from '../../src/http/hosts.ts'
import { openTestHttp, problemIn, route, sendRaw, serveTest } from './wire.ts'

const foreign: string[] = []
const demandOurs = openHosts(
  { base_url: 'https://Windfall.example.com', hosts: ['box.internal', '2001:db8::7'] },
  (host) => foreign.push(host),
)

function codeFor(host: string, target = '/'): string {
  try {
    demandOurs(target, host)
    return 'ours'
  } catch (error) {
    return error instanceof Refusal ? error.code : 'thrown'
  }
}

test.each([
  'windfall.example.com',
  'WINDFALL.example.com:8443',
  'windfall.example.com.',
  'box.internal:80',
  '[2001:db8::7]:8787',
  'localhost',
  'localhost:8787',
  'app.localhost',
  '127.0.0.1:8787',
  '127.8.9.10',
  '[::1]:8787',
])('%s is ours', (host) => {
  expect(codeFor(host)).toBe('ours')
})

test.each([
  'evil.example',
  'windfall.example.com.evil.example',
  'evilwindfall.example.com',
  '192.168.1.5',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  'notlocalhost',
  '[::2]',
  '0.0.0.0',
])('%s is foreign', (host) => {
  expect(codeFor(host)).toBe('misdirected')
  expect(foreign).toContain(host)
})

test.each([
  '',
  'a b',
  'a, b',
  'localhost, localhost',
  'localhost:80:80',
  'localhost:x',
  'user@localhost',
  'localhost/..',
  '[::1',
  '<script>',
  '.',
])('%j cannot be a host', (host) => {
  expect(codeFor(host)).toBe('invalid_host')
})

test('refuses a request in absolute form for every host', () => {
  expect(codeFor('localhost')).toBe('ours')
  expect(codeFor('localhost', 'http://localhost/')).toBe('misdirected')
  expect(codeFor('localhost', '*')).toBe('misdirected')
})

test('returns the host name in lower case, without port and dot', () => {
  expect(hostName('Example.COM.:443')).toBe('example.com')
  expect(hostName('[2001:DB8::1]:443')).toBe('[2001:db8::1]')
})

const hello = route('GET', '/hello', () => 'hello')

test('names the settings to change for a foreign host, without repeating the host', async () => {
  const { port } = await serveTest([hello])
  const answer = await sendRaw(port, 'GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n')
  const { status, code, detail } = problemIn(answer)
  expect({ status, code }).toEqual({ status: 421, code: 'misdirected' })
  expect(detail).toMatch(/`hosts`.*\[server\].*`base_url`/)
  expect(answer).not.toContain('evil.example')
})

test('logs each foreign host once, and at most twenty', async () => {
  const { http, lines } = openTestHttp([hello])
  const requestHost = (host: string) => http.app.request('/hello', { headers: { host } })
  for (let i = 0; i < 30; i++) for (const _ of [1, 2]) await requestHost(`evil${i}.example`)
  const warned = lines().filter(({ level }) => level === 'warn')
  expect(warned.map(({ host }) => host)).toEqual(Array.from({ length: 20 }, (_, i) => `evil${i}.example`))
})

test('answers health checks for every host', async () => {
  const { port } = await serveTest([])
  for (const head of ['HTTP/1.1\r\nHost: evil.example', 'HTTP/1.1\r\nHost: a\r\nHost: b', 'HTTP/1.0']) {
    expect(await sendRaw(port, `GET /healthz ${head}\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 .*{"status":"ok"}$/s)
  }
  expect(
    await sendRaw(port, 'GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
  ).toMatch(/ 200 /)
})

test.each([
  ['none', ''],
  ['two', 'Host: localhost\r\nHost: localhost\r\n'],
  ['two, one of them foreign', 'Host: localhost\r\nHost: evil.example\r\n'],
  ['an empty one', 'Host:\r\n'],
])('Host headers: %s is refused', async (_, lines) => {
  const { port } = await serveTest([hello])
  expect(problemIn(await sendRaw(port, `GET /hello HTTP/1.1\r\n${lines}\r\n`)).code).toBe('invalid_host')
})

test('applies new hosts while running', async () => {
  const { http } = openTestHttp([hello])
  const requestHost = async () =>
    (await http.app.request('/hello', { headers: { host: 'new.example' } })).status
  expect(await requestHost()).toBe(421)
  http.configure({ base_url: 'https://new.example' })
  expect(await requestHost()).toBe(200)
  http.configure({ hosts: ['new.example'] })
  expect(await requestHost()).toBe(200)
  http.configure({})
  expect(await requestHost()).toBe(421)
})
