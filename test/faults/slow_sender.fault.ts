import { execFileSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { BUNDLE, NOW, renewedPayload } from '../apple/samples.ts'
import { dial } from '../http/wire.ts'
import { folderOf, startServing } from '../processes.ts'
import { isLong } from '../random.ts'
import { bundledServing } from './bundled.ts'

/** The short form sends faster, so that it would also exhaust the memory for bodies within its time. */
const SECONDS = isLong ? 35 : 3
const BYTES_PER_SECOND = isLong ? 200_000 : 1_000_000
const BASELINE_SECONDS = isLong ? 35 : 1
const EVERY_MS = 20
const MEMORY_MIB = 80

const HEAD =
  'POST /apple/notifications HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n' +
  'transfer-encoding: chunked\r\n\r\n'

/** The bytes sent of one body, which then stays open: 261,123 chunks of one byte. */
const BODY_BYTES = 1_566_738

/** Sends bodies that never end, in chunks of this many bytes, from 127.0.0.2, on one connection after another. */
async function sendSlowly(port: number, size: number, isOver: () => boolean): Promise<number> {
  const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`
  const began = performance.now()
  const sockets: Socket[] = []
  let sent = 0
  let left = 0
  while (!isOver()) {
    let socket = sockets.at(-1)
    if (socket === undefined || socket.closed || !socket.writable || left < chunk.length) {
      socket = await dial(port, '127.0.0.2')
      socket.write(HEAD)
      socket.resume()
      sockets.push(socket)
      left = BODY_BYTES
    }
    const due = ((performance.now() - began) / 1000) * BYTES_PER_SECOND - sent
    const bytes = chunk.repeat(Math.max(0, Math.floor(Math.min(due, left) / chunk.length)))
    socket.write(bytes)
    sent += bytes.length
    left -= bytes.length
    await setTimeout(EVERY_MS)
  }
  for (const socket of sockets) socket.destroy()
  return sent
}

const residentMib = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024

test.each([['one byte', 1] as const, ...(isLong ? [['a kilobyte', 1_000] as const] : [])])(
  `a sender of slow bodies in chunks of %s blocks no other client, for ${SECONDS} s`,
  { timeout: 120_000 },
  async (_, size) => {
    const authority = await openAuthority({ now: NOW })
    const limits = '[limits]\nsdk_requests_per_minute = 1000000\n'
    const cwd = folderOf({ 'config.toml': `${limits}[[apps]]\nbundle_id = "${BUNDLE}"\n` })
    const entry = await bundledServing()
    const serving = await startServing({ cwd, entry, env: { ROOT_PEM: authority.root_pem } })
    const pool = new Pool(serving.url, { connections: 8 })
    let number = 0

    async function post(path: string, body: object): Promise<number> {
      const headers = { 'content-type': 'application/json' }
      const answer = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(body) })
      await answer.body.dump()
      return answer.statusCode
    }

    function notify(): Promise<number> {
      number += 1
      const outer = { notificationUUID: `002e14d5-51f5-4503-b5a8-${String(number).padStart(12, '0')}` }
      return post('/apple/notifications', {
        signedPayload: authority.sign(renewedPayload(authority, { outer })),
      })
    }

    /** Sends valid calls meanwhile. Returns the successful calls, all calls, and the server's peak memory. */
    async function serveFor(seconds: number) {
      const until = performance.now() + seconds * 1000
      const statuses: Promise<number>[] = []
      let memory = 0
      while (performance.now() < until) {
        statuses.push(
          notify(),
          post('/api/sdk/v1/identify', { appUserId: `user-${number}`, bundleId: BUNDLE }),
        )
        if (number % 10 === 0) memory = Math.max(memory, residentMib(serving.pid))
        await setTimeout(EVERY_MS)
      }
      const all = await Promise.all(statuses)
      return { all: all.length, succeeded: all.filter((status) => status === 200).length, memory }
    }

    const before = await serveFor(BASELINE_SECONDS)
    let isOver = false
    const sending = sendSlowly(serving.port, size, () => isOver)
    const during = await serveFor(SECONDS)
    isOver = true
    const sent = await sending
    await pool.destroy()
    serving.kill('SIGKILL')

    expect(before.succeeded).toBe(before.all)
    expect(sent).toBeGreaterThan(BYTES_PER_SECOND)
    expect(during.succeeded / during.all).toBeGreaterThan(0.99)
    expect(during.memory).toBeLessThan(before.memory + MEMORY_MIB)
  },
)
