/** The receiver process: answers each request after five milliseconds, as a backend with a database does. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { preciseTime } from '../../../src/clock.ts'
import { serveRequests } from '../child.ts'

/** `expect`: waits until this many more requests are answered. */
export type ReceiverRequest = { open: true } | { expect: number }
/** `per_second`: from the first arrival to the last answer. `bytes`: the mean size of a body. */
export type Received = { per_second: number; bytes: number }

const ANSWER_AFTER_MS = 5

type Count = { expected: number; answered: number; bytes: number; began_at: number; done: () => void }
let count: Count | null = null

const server = createServer((request, response) => {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  request.on('end', () => {
    if (count) count.began_at ||= preciseTime()
    setTimeout(() => {
      response.end('{"received":true}')
      note(bytes)
    }, ANSWER_AFTER_MS)
  })
})

function note(bytes: number): void {
  if (!count) return
  count.answered += 1
  count.bytes += bytes
  if (count.answered === count.expected) count.done()
}

async function expectRequests(expected: number): Promise<Received> {
  await new Promise<void>((done) => {
    count = { expected, answered: 0, bytes: 0, began_at: 0, done }
  })
  const { answered, bytes, began_at } = count as Count
  count = null
  return { per_second: answered / ((preciseTime() - began_at) / 1000), bytes: bytes / answered }
}

async function handle(message: ReceiverRequest): Promise<object> {
  if ('expect' in message) return expectRequests(message.expect)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

serveRequests<ReceiverRequest>(handle, async () => server.closeAllConnections())
