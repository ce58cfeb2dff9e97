import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientAddress, forwardedAddress, normalAddress, trustedProxies } from '../../src/http/addresses.ts'
import { openTestHttp, route, sendRaw, serveTest } from './wire.ts'

const loopback = trustedProxies(['127.0.0.0/8', '::1/128'])
const behind = (remote: string, forwarded?: string) => forwardedAddress(loopback, remote, forwarded)

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:C000:0201', '192.0.2.1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['192.0.2.1:65000', '192.0.2.1'],
])('%s is written as %s', (text, normal) => {
  expect(normalAddress(text)).toBe(normal)
})

test.each([
  '',
  'unknown',
  '_hidden',
  '192.0.2',
  '192.0.2.256',
  '0x7f000001',
  '1',
  ' 192.0.2.1',
  'localhost',
  '::g',
])('%j is no address', (text) => {
  expect(normalAddress(text)).toBeNull()
})

test.each([
  ['a stranger cannot name another address', '198.51.100.7', '192.0.2.1', '198.51.100.7'],
  ['a trusted proxy names its caller', '127.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['what the caller claimed before it does not count', '127.0.0.1', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
  ['trusted proxies in a row are all looked through', '::1', '192.0.2.1, 127.0.0.9,127.0.0.8', '192.0.2.1'],
  [
    'a chain of nothing but trusted proxies ends at the first',
    '127.0.0.1',
    '127.0.0.2, 127.0.0.3',
    '127.0.0.2',
  ],
  ['nothing forwarded: the proxy itself', '127.0.0.1', undefined, '127.0.0.1'],
  ['an empty header: the proxy itself', '127.0.0.1', '', '127.0.0.1'],
  ['junk ends the walk at who sent it', '127.0.0.1', '192.0.2.1, unknown', '127.0.0.1'],
  ['junk ends the walk further out too', '127.0.0.1', '192.0.2.1, <script>, 127.0.0.2', '127.0.0.2'],
  ['IPv4 within IPv6 is trusted as IPv4', '::ffff:127.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
  ['ports are dropped', '127.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
  ['a remote that is none is never trusted', 'undefined', '192.0.2.1', '0.0.0.0'],
])('%s', (_, remote, forwarded, address) => {
  expect(behind(remote, forwarded)).toBe(address)
})

test('trusts networks by CIDR range', () => {
  const proxies = trustedProxies(['10.0.0.0/8', '2001:db8::/32', '198.51.100.7'])
  expect(forwardedAddress(proxies, '10.255.0.1', '192.0.2.1')).toBe('192.0.2.1')
  expect(forwardedAddress(proxies, '2001:db8:ffff::1', '192.0.2.1')).toBe('192.0.2.1')
  expect(forwardedAddress(proxies, '198.51.100.7', '192.0.2.1')).toBe('192.0.2.1')
  expect(forwardedAddress(proxies, '198.51.100.8', '192.0.2.1')).toBe('198.51.100.8')
  expect(forwardedAddress(proxies, '127.0.0.1', '192.0.2.1')).toBe('127.0.0.1')
})

test.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '::/129', '', '10.0.0.0/8/8', '10.0.0.0/-1'])(
  'refuses %j as a range',
  (range) => {
    expect(() => trustedProxies([range])).toThrow(/not an IP address or a CIDR range/)
  },
)

test('ignores forged entries before the entry of the proxy', () => {
  fc.assert(
    fc.property(fc.string(), fc.ipV4(), (forged, address) => {
      fc.pre(!address.startsWith('127.'))
      expect(behind('127.0.0.1', `${forged},${address}`)).toBe(address)
    }),
  )
})

test('stops after sixteen trusted proxies', () => {
  expect(behind('127.0.0.1', `192.0.2.1${',127.0.0.2'.repeat(1000)}`)).toBe('127.0.0.2')
})

const addressRoute = route('GET', '/me', (event) => clientAddress(event))

test('the address is that of the peer, or the one that a trusted proxy forwards', async () => {
  const { http, port } = await serveTest([addressRoute])
  const sendRequest = (more: string) => sendRaw(port, `GET /me HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`)
  expect(await sendRequest('')).toContain('"127.0.0.1"')
  expect(await sendRequest('x-forwarded-for: 203.0.113.9\r\nx-forwarded-for: 192.0.2.1\r\n')).toContain(
    '"192.0.2.1"',
  )
  http.configure({ trusted_proxies: [] })
  expect(await sendRequest('x-forwarded-for: 192.0.2.1\r\n')).toContain('"127.0.0.1"')
})

test('a request without a socket has the loopback address', async () => {
  const { http } = openTestHttp([addressRoute])
  const headers = { 'x-forwarded-for': '2001:db8::1' }
  expect(await (await http.app.request('/me')).json()).toBe('127.0.0.1')
  expect(await (await http.app.request('/me', { headers })).json()).toBe('2001:db8::1')
})
