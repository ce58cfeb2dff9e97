import type { LookupAddress } from 'node:dns'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { openLookups } from '../../src/outgoing/addresses.ts'
import { runs } from '../random.ts'
import { answering, dispatcherWith, OK, openReceiver, resolverOf, send } from './receiver.ts'

/** Every entry reaches this machine, its network or nothing if the guard lets it through. */
const REFUSED_HOSTS = [
  ['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.1'],
  ['0177.0.0.1', '017700000001', '0x7f.0x0.0x0.0x1', '0', '0.0.0.0', '１２７.０.０.１', '①②⑦.⓪.⓪.①'],
  ['127%2e0%2e0%2e1', 'localhost', 'LOCALHOST'],
  ['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ['[0:0:0:0:0:ffff:7f00:1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]'],
  ['[64:ff9b:1::7f00:1]', '[64:ff9b::808:808]', '[2002:7f00:1::]', '[2001:0:0:0:0:0:80ff:fffe]'],
  ['[fe80::1]', '[fc00::1]', '[fd00::1]', '[fec0::1]', '[ff02::1]', '[100::1]', '[2001:db8::1]', '[5f00::1]'],
  ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.1.1', '100.64.0.1', '198.18.0.1'],
  ['192.0.2.1', '192.88.99.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ['[fd00:ec2::254]', '[fe80::a9fe:a9fe]', '[::ffff:169.254.169.254]', '0xa9fea9fe'],
].flat()

test('no connection reaches this machine or its network, in any spelling of the address', async () => {
  const canary = await openReceiver()
  const dispatcher = dispatcherWith()
  for (const host of REFUSED_HOSTS) {
    for (const scheme of ['http', 'https']) {
      const outcome = await send(dispatcher, `${scheme}://${host}:${canary.port}/`)
      expect({ host, ...outcome }).toMatchObject({ host, kind: 'address' })
    }
  }
  expect(REFUSED_HOSTS.length).toBeGreaterThan(50)
  expect(canary.connections()).toBe(0)
})

test('a zone in a URL is no valid URL', async () => {
  for (const host of ['[fe80::1%25eth0]', '[::1%lo]'])
    expect(await send(dispatcherWith(), `http://${host}/`)).toMatchObject({ kind: 'address' })
})

test.each([
  ['one that is private', ['10.0.0.1']],
  ['one public, one private', ['8.8.8.8', '127.0.0.1']],
  ['one private, one public', ['127.0.0.1', '8.8.8.8']],
  ['a mapped address', ['::ffff:127.0.0.1']],
  ['a mapped address in hexadecimal', ['::ffff:7f00:1']],
  ['a decimal number', ['2130706433']],
  ['an octal address', ['0177.0.0.1']],
  ['a link-local address with a zone', ['fe80::1%lo']],
  ['loopback with a zone', ['::1%lo']],
  ['a metadata address', ['169.254.169.254']],
  ['several addresses, the last one private', ['8.8.8.8', '2606:4700::1111', '192.168.0.1']],
  ['text that is no address', ['not an address']],
])('a name that resolves to %s is refused', async (_, addresses) => {
  const canary = await openReceiver()
  const dispatcher = dispatcherWith({ resolve: resolverOf(addresses) })
  const outcome = await send(dispatcher, `https://hooks.example:${canary.port}/`)
  expect(outcome).toMatchObject({ kind: 'address', words: expect.stringContaining('hooks.example') })
  expect(canary.connections()).toBe(0)
})

test('a name with a trailing dot is resolved like any other', async () => {
  const dispatcher = dispatcherWith({ resolve: resolverOf(['127.0.0.1']) })
  for (const host of ['localhost.', 'hooks.example.'])
    expect(await send(dispatcher, `http://${host}/`)).toMatchObject({ kind: 'address' })
})

test('a name without addresses, or that does not resolve, is a failure of DNS', async () => {
  const words = expect.stringContaining('hooks.example cannot be resolved')
  const empty = dispatcherWith({ resolve: resolverOf([]) })
  expect(await send(empty, 'https://hooks.example/')).toEqual({ kind: 'dns', words })
  const error = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
  const failing = dispatcherWith({ resolve: () => Promise.reject(error) })
  expect(await send(failing, 'https://hooks.example/')).toEqual({
    kind: 'dns',
    words: expect.stringContaining('ENOTFOUND'),
  })
})

test('a resolver that changes its answer gains nothing: the checked addresses are those connected to', async () => {
  const canary = await openReceiver()
  const resolve = resolverOf(['10.1.1.1', '8.8.8.8'], ['127.0.0.1'])
  const dispatcher = dispatcherWith({ resolve })
  for (const call of [1, 2, 3]) {
    const outcome = await send(dispatcher, `https://hooks.example:${canary.port}/`)
    expect(outcome).toMatchObject({ kind: 'address' })
    expect(resolve.calls()).toBe(call)
  }
  expect(canary.connections()).toBe(0)
})

test('an answer that was permitted is resolved once: the next one connects nowhere', async () => {
  const canary = await openReceiver()
  const resolve = resolverOf(['127.0.0.1'], ['127.0.0.2'])
  const dispatcher = dispatcherWith({ allow: ['127.0.0.1'], resolve })
  const url = `http://hooks.example:${canary.port}/`
  expect(await send(dispatcher, url, { headers: { connection: 'close' } })).toMatchObject({ status: 200 })
  expect(resolve.calls()).toBe(1)
  expect(await send(dispatcher, url)).toMatchObject({ kind: 'address' })
  expect(canary.connections()).toBe(1)
})

test('the connected address is checked: 0.0.0.0 leads to loopback, and no byte is sent', async () => {
  const canary = await openReceiver()
  const dispatcher = dispatcherWith({ allow: ['0.0.0.0/32'] })
  for (const scheme of ['http', 'https']) {
    const outcome = await send(dispatcher, `${scheme}://0.0.0.0:${canary.port}/`)
    expect(outcome).toMatchObject({
      kind: 'address',
      words: expect.stringContaining('reached another address. 127.0.0.1 is'),
    })
  }
  expect(canary.texts.join('')).toBe('')
})

test('a check finds what a request would be refused for, without a connection', async () => {
  const { port, connections } = await openReceiver()
  const dispatcher = dispatcherWith({ allow: ['127.0.0.2'], resolve: resolverOf(['127.0.0.1']) })
  const kindOf = async (url: string) => (await dispatcher.check(url))?.kind ?? null
  expect(await kindOf(`http://127.0.0.1:${port}/`)).toBe('address')
  expect(await kindOf(`http://[::ffff:7f00:1]:${port}/`)).toBe('address')
  expect(await kindOf(`http://backend.example:${port}/`)).toBe('address')
  expect(await kindOf('ftp://example.com/')).toBe('address')
  expect(await kindOf(`http://127.0.0.2:${port}/`)).toBeNull()
  const unresolved = dispatcherWith({ resolve: resolverOf([]) })
  expect(await unresolved.check('https://backend.example/')).toMatchObject({ kind: 'dns' })
  expect(connections()).toBe(0)
})

test('redirects are not followed', async () => {
  const canary = await openReceiver()
  const location = `http://127.0.0.1:${canary.port}/`
  const redirecting = await openReceiver(
    answering(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
  )
  const dispatcher = dispatcherWith({ allow: [`127.0.0.1/32:${redirecting.port}`] })
  const outcome = await send(dispatcher, `http://127.0.0.1:${redirecting.port}/`)
  expect(outcome).toMatchObject({ status: 302, headers: { location } })
  expect(canary.connections()).toBe(0)
})

test('proxy variables have no effect', async () => {
  const canary = await openReceiver()
  const receiver = await openReceiver()
  const proxy = `http://127.0.0.1:${canary.port}`
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']
  const before = { ...process.env }
  onTestFinished(() => {
    process.env = before
  })
  for (const name of [...names, 'NODE_USE_ENV_PROXY'])
    process.env[name] = name.startsWith('NODE') ? '1' : proxy
  const dispatcher = dispatcherWith({ allow: [`127.0.0.1/32:${receiver.port}`] })
  expect(await send(dispatcher, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200 })
  expect(await send(dispatcher, 'https://10.0.0.1/')).toMatchObject({ kind: 'address' })
  expect(canary.connections()).toBe(0)
})

test('an entry permits its network and http to it, on any port', async () => {
  const receiver = await openReceiver()
  for (const allow of ['127.0.0.1', '127.0.0.1/32', '127.0.0.0/8', '0.0.0.0/0', '::1']) {
    const outcome = await send(dispatcherWith({ allow: [allow] }), `http://127.1:${receiver.port}/`)
    expect('status' in outcome).toBe(allow !== '::1')
  }
})

test('an entry with a port permits this port only', async () => {
  const [receiver, canary] = [await openReceiver(), await openReceiver()]
  const dispatcher = dispatcherWith({ allow: [`127.0.0.0/8:${receiver.port}`, `[::1]:${receiver.port}`] })
  expect(await send(dispatcher, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200 })
  expect(await send(dispatcher, `http://127.0.0.1:${canary.port}/`)).toMatchObject({ kind: 'address' })
  expect(await send(dispatcher, `http://[::1]:${canary.port}/`)).toMatchObject({ kind: 'address' })
  expect(canary.connections()).toBe(0)
})

test('a refusal names the line that permits the address', async () => {
  const first = await send(dispatcherWith(), 'http://127.1/')
  expect(first).toEqual({
    kind: 'address',
    words:
      '127.0.0.1 is a loopback address, which is this machine. To permit it, set allow = ["127.0.0.1/32:80"] in [outbound] of config.toml, and reload or restart.',
  })
  const further = await send(dispatcherWith({ allow: ['10.0.0.0/8:80'] }), 'http://[fd00::7]/')
  expect(further).toMatchObject({
    words: expect.stringContaining('allow = ["10.0.0.0/8:80", "[fd00::7/128]:80"] in [outbound]'),
  })
})

test('http to a public address is refused', async () => {
  expect(await send(dispatcherWith(), 'http://8.8.8.8/')).toMatchObject({
    kind: 'address',
    words: expect.stringContaining('Use https.'),
  })
})

test('a wider network never permits a metadata address', async () => {
  const wide = { allow: ['0.0.0.0/0', '::/0', '169.254.0.0/16', '169.254.169.254/31'] }
  const addresses = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]']
  for (const address of [...addresses, '[::ffff:a9fe:a9fe]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::1]'])
    expect(await send(dispatcherWith(wide), `http://${address}/`)).toMatchObject({
      kind: 'address',
      words: expect.stringContaining('metadata'),
    })
})

test('an entry for exactly this address permits a metadata address', async () => {
  const dispatcher = dispatcherWith({ allow: ['169.254.169.254/32'] })
  const outcome = await send(dispatcher, 'http://169.254.169.254:9/', { timeoutMs: 30 })
  expect(outcome).not.toMatchObject({ kind: 'address' })
  expect(await send(dispatcher, 'http://169.254.169.253:9/')).toMatchObject({ kind: 'address' })
})

test('an address that contains a refused IPv4 address is refused, even if its network is permitted', async () => {
  const dispatcher = dispatcherWith({ allow: ['64:ff9b::/96', '2002::/16', '2001::/32'] })
  for (const host of ['[64:ff9b::7f00:1]', '[2002:7f00:1::1]', '[2001::80ff:fffe]', '[64:ff9b::a00:1]'])
    expect(await send(dispatcher, `https://${host}/`)).toMatchObject({
      kind: 'address',
      words: expect.stringMatching(/^(127\.0\.0\.1|10\.0\.0\.1) is/),
    })
})

test('new settings hold for the next request, and idle connections close', async () => {
  const receiver = await openReceiver(answering(OK))
  const url = `http://127.0.0.1:${receiver.port}/`
  const dispatcher = dispatcherWith({ allow: ['127.0.0.1/32'] })
  expect(await send(dispatcher, url)).toMatchObject({ status: 200 })
  expect(receiver.open()).toBe(1)
  dispatcher.reconfigure({ allow: [], ca: null })
  expect(await send(dispatcher, url)).toMatchObject({ kind: 'address' })
  await expect.poll(receiver.open).toBe(0)
  dispatcher.reconfigure({ allow: ['127.0.0.0/8'], ca: null })
  expect(await send(dispatcher, url)).toMatchObject({ status: 200 })
  expect(receiver.connections()).toBe(2)
})

/** Networks without public addresses, with their first address as a number and their size in bits. */
const SPECIAL: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
]
const numberOf = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const specialAddress = fc
  .tuple(fc.constantFrom(...SPECIAL), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
  .map(([[start, bits], share]) => numberOf(start) + Math.floor(share * 2 ** (32 - bits)))

const SPELLINGS: ((address: number) => string)[] = [
  (address) => String(address),
  (address) => `0x${address.toString(16)}`,
  (address) => `0${address.toString(8)}`,
  (address) => bytesOf(address).join('.'),
  (address) => `${bytesOf(address).join('.')}.`,
  (address) =>
    bytesOf(address)
      .map((byte) => `0${byte.toString(8)}`)
      .join('.'),
  (address) =>
    bytesOf(address)
      .map((byte) => `0x${byte.toString(16)}`)
      .join('.'),
  (address) => `${address >>> 24}.${address % 2 ** 24}`,
  (address) => `[::ffff:${bytesOf(address).join('.')}]`,
  (address) => `[::ffff:${groupsOf(address)}]`,
  (address) => `[64:ff9b::${groupsOf(address)}]`,
  (address) => `[2002:${groupsOf(address)}::1]`,
  (address) => `[2001::${groupsOf(~address >>> 0)}]`,
]
const bytesOf = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff)
const groupsOf = (address: number) => `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`

test('any IPv4 address that is not public is refused, in any spelling', async () => {
  const dispatcher = dispatcherWith()
  await fc.assert(
    fc.asyncProperty(specialAddress, fc.constantFrom(...SPELLINGS), async (address, spell) => {
      const outcome = await send(dispatcher, `https://${spell(address)}:9/`)
      expect(outcome).toMatchObject({ kind: 'address' })
    }),
    runs(300, 20_000),
  )
})

test('at most two lookups run at once, callers for a name share one, and a late one fails its callers', async () => {
  const asked: string[] = []
  const ends: (() => void)[] = []
  const resolve = openLookups((hostname) => {
    asked.push(hostname)
    const { promise, resolve: end } = Promise.withResolvers<LookupAddress[]>()
    ends.push(() => end([{ address: '127.0.0.1', family: 4 }]))
    return promise
  }, 50)
  const late = Promise.allSettled(['a', 'a', 'b', 'c'].map((name) => resolve(`${name}.example`)))
  expect((await late).map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
  expect(asked).toEqual(['a.example', 'b.example'])
  const dispatcher = dispatcherWith({ resolve })
  expect(await send(dispatcher, 'https://a.example/')).toMatchObject({
    kind: 'dns',
    words: expect.stringContaining('cannot be resolved (ETIMEOUT)'),
  })
  for (const end of ends) end()
  await expect.poll(() => asked).toContain('c.example')
  ends.at(-1)?.()
  const again = resolve('c.example')
  ends.at(-1)?.()
  expect(await again).toHaveLength(1)
})
