/** Requests whose bodies are streams: large ones, and those that end early. */
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { openDispatcher } from '../../src/outgoing/dispatcher.ts'
import { answering, dispatcherWith, openReceiver } from './receiver.ts'

const allow = ['127.0.0.0/8']
const urlOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}/`

type Dispatcher = ReturnType<typeof openDispatcher>
type Streamed = Parameters<Dispatcher['stream']>[0]

/** Sends a GET request. @throws Error if there is no answer */
async function open(dispatcher: Dispatcher, url: string, more: Partial<Streamed> = {}) {
  const answer = await dispatcher.stream({ url, method: 'GET', headers: {}, body: null, ...more })
  if ('kind' in answer) throw new Error(answer.words)
  return answer
}

test('sends a stream with its length, and hands on a long body as it comes', async () => {
  const size = 3_000_000
  const receiver = await openReceiver((socket, received) => {
    if (received.endsWith('end'))
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${'b'.repeat(size)}`)
  })
  const parts = [Buffer.alloc(size, 'a'), Buffer.from('end')]
  const headers = { 'content-length': String(size + 3) }
  const sent = { method: 'PUT', headers, body: Readable.from(parts, { objectMode: false }) } as const
  const { status, body } = await open(dispatcherWith({ allow }), urlOf(receiver), sent)
  expect([status, (await buffer(body)).length]).toEqual([200, size])
  expect(receiver.texts[0]?.length).toBeGreaterThan(size)
})

test('refuses addresses and hosts like any other request', async () => {
  const receiver = await openReceiver()
  const stream = (url: string) => dispatcherWith().stream({ url, method: 'GET', headers: {}, body: null })
  expect(await stream(urlOf(receiver))).toMatchObject({ kind: 'address' })
  expect(await stream('ftp://example.com/')).toMatchObject({ kind: 'address' })
  expect(receiver.connections()).toBe(0)
})

test('an abort ends a request before it has a connection, before the answer, and during the body', async () => {
  const reason = new Error('enough')
  const waiting = Promise.withResolvers<void>()
  const unresolved = dispatcherWith({
    resolve: () => {
      waiting.resolve()
      return new Promise(() => {})
    },
  })
  const first = new AbortController()
  const connecting = open(unresolved, 'https://bucket.example/', { signal: first.signal })
  await waiting.promise
  first.abort(reason)
  await expect(connecting).rejects.toBe(reason)

  const dispatcher = dispatcherWith({ allow })
  const silent = await openReceiver(() => {})
  const second = new AbortController()
  const asking = open(dispatcher, urlOf(silent), { signal: second.signal })
  await expect.poll(silent.connections).toBe(1)
  second.abort(reason)
  await expect(asking).rejects.toBe(reason)
  await expect.poll(silent.open).toBe(0)

  const slow = await openReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nslow'))
  const third = new AbortController()
  const { body } = await open(dispatcher, urlOf(slow), { signal: third.signal })
  third.abort(reason)
  await expect(text(body)).rejects.toBe(reason)
  await expect.poll(slow.open).toBe(0)

  const aborted = open(dispatcher, urlOf(slow), { signal: AbortSignal.abort(reason) })
  await expect(aborted).rejects.toBe(reason)
})

test('the end of the program ends the reading of a body, and requests after it are refused', async () => {
  const receiver = await openReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nslow'))
  const dispatcher = dispatcherWith({ allow })
  const { body } = await open(dispatcher, urlOf(receiver))
  const reading = text(body)
  reading.catch(() => {})
  await dispatcher.close()
  await expect(reading).rejects.toThrow('Windfall is stopping')
  await expect(open(dispatcher, urlOf(receiver))).rejects.toThrow('Windfall is stopping')
})
