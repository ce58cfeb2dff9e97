/** A receiver of webhooks that fails now and then, and remembers what it received. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Random } from '../../../src/demo/world/random.ts'
import { atEndOfFile } from '../../closing.ts'

/** This part of all events is always refused by an endpoint. */
const REFUSED_PART = 0.01
/** This part of the other requests fails. */
const FAILING_PART = 0.15

export type Receipts = ReturnType<typeof openReceipts>

/** What arrived, by endpoint and event. */
function openReceipts() {
  const bodies = new Map<string, Set<string>>()
  const successes = new Map<string, number>()
  const keyOf = (endpoint: string, id: string): string => `${endpoint} ${id}`
  const bodiesOf = (endpoint: string, id: string): string[] => [...(bodies.get(keyOf(endpoint, id)) ?? [])]

  function note(endpoint: string, id: string, body: string): void {
    const key = keyOf(endpoint, id)
    bodies.set(key, (bodies.get(key) ?? new Set()).add(body))
  }

  function noteSuccess(endpoint: string, id: string): void {
    const key = keyOf(endpoint, id)
    if (!successes.has(key)) successes.set(key, successes.size)
  }

  return {
    note,
    noteSuccess,
    /** The place of an event’s first success among all; null without one. */
    firstSuccess: (endpoint: string, id: string): number | null => successes.get(keyOf(endpoint, id)) ?? null,
    /** Whether the body says that the previous event of the key was given up. */
    isAfterLost: (endpoint: string, id: string): boolean =>
      bodiesOf(endpoint, id).some((body) => JSON.parse(body).data.previous_lost === true),
    /**
     * Events that arrived differently, or with a body of another event. The state at the time of the body may differ: a
     * body that was never known to be tried is made again after a crash.
     */
    changed: (): string[] =>
      [...bodies].flatMap(([key, texts]) => {
        const isOwn = [...texts].every((text) => key.endsWith(` ${JSON.parse(text).data.id}`))
        return new Set([...texts].map(withoutState)).size === 1 && isOwn ? [] : [key]
      }),
  }
}

/** The body without what depends on when it was made. */
function withoutState(body: string): string {
  const { data, ...event } = JSON.parse(body)
  const { subscription_now, customer, previous_lost, ...facts } = data
  return JSON.stringify({ ...event, facts })
}

/** Fails like real receivers do: with a status, with a request to wait, or without an answer. */
function fail(response: ServerResponse, random: Random): void {
  const status = random.pick([0, 301, 400, 404, 429, 500, 503])
  if (status === 0) return void response.destroy()
  const headers = random.chance(0.5) ? { 'retry-after': String(random.whole(1, 600)) } : {}
  response.writeHead(status, headers).end()
}

/** Opens the receiver. The path of a request is the name of an endpoint. */
export async function openFailingReceiver(random: Random) {
  const receipts = openReceipts()
  const refused = new Map<string, boolean>()
  let [left, turns] = [Number.POSITIVE_INFINITY, 0]
  let reached = (): void => {}

  function isRefused(endpoint: string, id: string): boolean {
    const key = `${endpoint} ${id}`
    const is = refused.get(key) ?? random.chance(REFUSED_PART)
    refused.set(key, is)
    return is
  }

  /** Calls `reached` after some turns of the event loop. */
  function countDown(): void {
    if (turns === 0) return reached()
    turns -= 1
    setImmediate(countDown)
  }

  function answer(endpoint: string, id: string, response: ServerResponse): void {
    if (isRefused(endpoint, id)) response.writeHead(400).end()
    else if (random.chance(FAILING_PART)) fail(response, random)
    else {
      receipts.noteSuccess(endpoint, id)
      response.end('{}')
    }
    left -= 1
    if (left === 0) countDown()
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    const endpoint = (request.url ?? '').slice(1)
    const id = String(request.headers['webhook-id'])
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      receipts.note(endpoint, id, Buffer.concat(chunks).toString())
      answer(endpoint, id, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEndOfFile(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo

  /** Resolves `turnsLater` turns of the event loop after `requests` more requests were answered. */
  const afterRequests = (requests: number, turnsLater: number): Promise<void> =>
    new Promise((resolve) => {
      left = requests
      turns = turnsLater
      reached = resolve
    })

  return { url: `http://127.0.0.1:${port}`, receipts, afterRequests }
}
