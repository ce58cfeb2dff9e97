import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readJson } from '../../src/http/body/body.ts'
import { dial, openTestHttp, post, response, route, serveTest } from './wire.ts'

const MIB = 1024 * 1024
const json = { 'content-type': 'application/json' }
const head = (path: string, length: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
const CHUNKED = 'transfer-encoding: chunked'
const lengthOf = (bytes: number) => `content-length: ${bytes}`

/** A server with a common and a reserved route, and callers that send part of a body and stop. */
async function opened() {
  const read: Socket[] = []
  const sockets: Socket[] = []
  const outcomes: Promise<string>[] = []
  const reading = (path: string, room: 'common' | 'reserved') =>
    route('POST', path, async (event) => {
      if (event.runtime?.node) read.push(event.runtime.node.req.socket)
      const body = readJson(event, 8 * MIB, room)
      outcomes.push(body.then(String, (error) => error.code))
      return { got: await body }
    })
  const routes = [reading('/common', 'common'), reading('/reserved', 'reserved')]
  const { port } = await serveTest(routes, { max_body_bytes: 8 * MIB })
  // The memory is of the whole process: the next test begins once it is given back.
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await Promise.all(outcomes)
  })

  /** Sends the beginning of a body from an address; resolves once the server has read it, or has answered. */
  async function stall(address: string, path: string, body: Buffer, length = lengthOf(body.length + 1)) {
    const socket = await dial(port, address)
    sockets.push(socket)
    const answer = response(socket)
    const nth = read.length
    socket.write(head(path, length))
    while (read.length === nth) await new Promise(setImmediate)
    const server = read[nth]
    const before = server?.bytesRead ?? 0
    socket.write(body)
    while ((server?.bytesRead ?? 0) < before + body.length && socket.bytesRead === 0)
      await new Promise(setImmediate)
    const later = new Promise<string>((resolve) => setImmediate(resolve, 'kept'))
    return { socket, answer, outcome: await Promise.race([outcomes[nth], later]) }
  }

  /** Sends a body of so many bytes from an address and answers with the status. */
  async function send(address: string, path: string, bytes: number): Promise<number> {
    const socket = await dial(port, address)
    const answer = response(socket)
    socket.write(post(path, `"${'x'.repeat(bytes - 2)}"`))
    const status = Number((await answer).slice(9, 12))
    socket.destroy()
    return status
  }

  return { stall, send, outcomes }
}

/** Fills the memory for bodies from one address until it is refused; how many bodies of 8 MiB found room. */
async function fill(stall: Awaited<ReturnType<typeof opened>>['stall'], address: string): Promise<number> {
  const large = Buffer.alloc(8 * MIB - 1, 32)
  for (let kept = 0; ; kept += 1)
    if ((await stall(address, '/reserved', large)).outcome === 'busy') return kept
}

test('limits bodies to 64 MiB: an address to half, then to its share, with a reserve for small bodies', async () => {
  const { stall, send, outcomes } = await opened()
  expect(await fill(stall, '127.0.0.2')).toBe(4)
  // That address is over its share, and so is its network; another has room for a large body and for a small one.
  expect(await send('127.0.0.2', '/reserved', 200)).toBe(503)
  expect(await send('127.0.0.3', '/reserved', 200)).toBe(503)
  expect(await send('127.0.1.1', '/common', 2 * MIB)).toBe(200)

  // Many addresses fill what is left for large bodies, two of each network.
  const large = Buffer.alloc(4 * MIB - 1, 32)
  for (const address of ['127.0.2.1', '127.0.2.2', '127.0.3.1'])
    expect((await stall(address, '/reserved', large)).outcome).toBe('kept')
  expect((await stall('127.0.2.3', '/reserved', large)).outcome).toBe('busy')
  expect((await stall('127.0.4.1', '/reserved', large)).outcome).toBe('kept')
  expect((await stall('127.0.5.1', '/reserved', large)).outcome).toBe('busy')
  expect(await send('127.0.1.1', '/common', 200)).toBe(503)
  expect(await send('127.0.1.1', '/reserved', 65_536)).toBe(200)
  expect(await send('127.0.1.1', '/reserved', 65_537)).toBe(503)
  expect(outcomes.length).toBeGreaterThan(10)
})

test('a released body makes room for the next', async () => {
  const { stall, send } = await opened()
  const large = Buffer.alloc(8 * MIB - 1, 32)
  const stalled = []
  for (let n = 0; n < 4; n += 1) stalled.push(await stall('127.0.0.2', '/common', large))
  expect(await send('127.0.0.2', '/reserved', 200)).toBe(503)
  for (const { socket, answer } of stalled) {
    socket.destroy()
    await answer
  }
  while ((await send('127.0.0.2', '/reserved', 200)) !== 200) await new Promise(setImmediate)
  expect(await fill(stall, '127.0.0.2')).toBe(4)
})

test('counts networks behind a trusted proxy separately, and the addresses of one /64 together', async () => {
  const { http } = openTestHttp([route('POST', '/echo', (event) => readJson(event, 64 * MIB))])
  const postBody = (address: string, body: RequestInit['body']) =>
    http.app.request('/echo', {
      method: 'POST',
      headers: { ...json, 'x-forwarded-for': address },
      body: body ?? null,
      duplex: 'half',
    })
  let finish = (): void => {}
  const held = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let n = 0; n < 4; n += 1) controller.enqueue(Buffer.alloc(8 * MIB, 32))
      finish = () => controller.close()
    },
  })
  const stalled = Promise.resolve(postBody('2001:db8::1', held))
  while ((await postBody('2001:db8::2', '{}')).status === 200) await new Promise(setImmediate)
  expect(await (await postBody('2001:db8::3', '{}')).json()).toMatchObject({ status: 503, code: 'busy' })
  expect((await postBody('2001:db8:1::1', '{}')).status).toBe(200)
  finish()
  expect((await stalled).status).toBe(400)
  expect((await postBody('2001:db8::2', '{}')).status).toBe(200)
})

test('reads many bodies in small chunks at the same time', async () => {
  const { http } = openTestHttp([
    route('POST', '/echo', async (event) => (await readJson(event, MIB)) !== null),
  ])
  const bytes = Buffer.from(JSON.stringify('x'.repeat(300_000 - 2)))
  const pieces = Array.from({ length: 3_000 }, (_, n) => bytes.subarray(n * 100, (n + 1) * 100))
  const callers = Array.from({ length: 60 }, () => {
    const body = ReadableStream.from(pieces)
    return http.app.request('/echo', { method: 'POST', headers: json, body, duplex: 'half' })
  })
  const answers = await Promise.all(callers)
  expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(200))
})

test.each([
  ['a long body byte by byte', 5_000, 1, 400],
  ['a short body byte by byte', 4_000, 1, 200],
  ['JSON token by token', 4_000, 8, 200],
])('%s', async (_, pieces, size, status) => {
  const { http } = openTestHttp([route('POST', '/echo', (event) => readJson(event, MIB))])
  const bytes = Buffer.alloc(pieces * size, 'x')
  bytes.write('"')
  bytes.write('"', bytes.length - 1)
  const body = ReadableStream.from(
    Array.from({ length: pieces }, (_each, n) => bytes.subarray(n * size, (n + 1) * size)),
  )
  const answer = await http.app.request('/echo', { method: 'POST', headers: json, body, duplex: 'half' })
  expect(answer.status).toBe(status)
  if (status === 400) expect(await answer.json()).toMatchObject({ code: 'body_fragmented' })
})

test('refuses a megabyte sent byte by byte after a small part of it', async () => {
  const { outcomes, stall } = await opened()
  const bytes = Buffer.from('1\r\nx\r\n'.repeat(200_000))
  const { socket, answer, outcome } = await stall('127.0.0.2', '/reserved', bytes, CHUNKED)
  expect(outcome).toBe('body_fragmented')
  expect(await answer).toMatch(/^HTTP\/1.1 400/)
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  expect(await outcomes[0]).toBe('body_fragmented')
})
