import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { readJson } from '../../src/http/body.ts'
import { dial, openTestHttp, post, problemIn, response, route, say, serveTest } from './wire.ts'

const json = { 'content-type': 'application/json' }
const echo = route('POST', '/echo', async (event) => ({ got: await readJson(event, 1_000) }))

test('bodies that stall may take 64 MiB in the whole process; whoever lets go makes room for the next', async () => {
  const most = 40 * 1024 * 1024
  const arrived: Promise<unknown>[] = []
  const connections: Socket[] = []
  const { port } = await serveTest(
    [
      route('POST', '/large', (event) => {
        if (event.runtime?.node) connections.push(event.runtime.node.req.socket)
        const reading = readJson(event, most)
        arrived.push(reading.catch((error) => error.code))
        return reading.then(() => ({}))
      }),
      echo,
    ],
    { max_body_bytes: most },
  )
  const large = post('/large', Buffer.alloc(most, 32))
  /** Sends, and waits until the server has read as much or has answered. */
  async function push(socket: Socket, nth: number, bytes: Buffer): Promise<void> {
    const before = connections[nth]?.bytesRead ?? 0
    socket.write(bytes)
    while ((connections[nth]?.bytesRead ?? 0) < before + bytes.length && socket.bytesRead === 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const first = await dial(port)
  await push(first, 0, large.subarray(0, -10))
  const second = await dial(port)
  const refused = response(second)
  const fits = 20 * 1024 * 1024
  await push(second, 1, large.subarray(0, fits))
  expect(second.bytesRead).toBe(0)
  for (let at = fits; at < large.length && second.bytesRead === 0; at += 16_384) {
    await push(second, 1, large.subarray(at, at + 16_384))
  }
  const answer = await refused
  expect(problemIn(answer)).toMatchObject({ status: 503, code: 'busy' })
  expect(answer).toMatch(/\r\nretry-after: 1\r\n/i)
  // What is small still finds room.
  expect(await say(port, post('/echo', '{}'))).toMatch(/^HTTP\/1.1 200/)

  first.destroy()
  expect(await arrived[0]).toBe('invalid_json')
  for (const end of ['"x"   {} ', '        1 ']) {
    const socket = await dial(port)
    const answered = response(socket)
    socket.write(Buffer.concat([large.subarray(0, -10), Buffer.from(end.padEnd(10))]))
    const status = Number((await answered).slice(9, 12))
    expect(status).toBe(end.includes('{') ? 400 : 200)
    socket.destroy()
  }
  second.destroy()
})

test('a body that comes byte by byte counts for what it takes, not for what it says', async () => {
  const { http } = openTestHttp([route('POST', '/echo', (event) => readJson(event, 1_000_000))])
  const ask = (pieces: number) => {
    const body = ReadableStream.from(Array.from({ length: pieces }, () => new Uint8Array([32])))
    return http.app.request('/echo', { method: 'POST', headers: json, body, duplex: 'half' })
  }
  expect(await (await ask(270_000)).json()).toMatchObject({ status: 503, code: 'busy' })
  expect(await (await ask(200_000)).json()).toMatchObject({ status: 400, code: 'invalid_json' })
  expect(await (await ask(200_000)).json()).toMatchObject({ status: 400, code: 'invalid_json' })
})
