/**
 * A process: receivers of webhooks, one for each kind of trouble. The path of a request is the name of its endpoint. Each
 * remembers what it got and how it answered.
 */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pass } from 'node:timers/promises'
import { answer, givenArguments } from './answering.ts'

/**
 * A request. `status`: 0 when the sender got no answer. `at` and `ended_at`, when the sender got the answer or stopped to
 * wait for it: by the clock of this machine.
 */
export type Receipt = {
  endpoint: string
  id: string
  attempt: number
  status: number
  at: number
  ended_at: number
  sha256: string
  isReplay: boolean
}

/** `isTimeless`: nobody takes time, nobody is slow, and nobody is away for days but the one that dies. */
const { secret, isTimeless } = givenArguments<{ secret: string; isTimeless: boolean }>()
const keyOf = (text: string): Buffer => Buffer.from(text.replace('whsec_', ''), 'base64')
let key = keyOf(secret)
const SLOW_MS = 300
const TOO_SLOW_MS = 17_000
/** A sender waits for this long. */
const PATIENCE_MS = 15_000
const RETRY_AFTER_S = 2

const receipts: Receipt[] = []
const faults: string[] = []
const counts = new Map<string, number>()

/** What an endpoint answers to its n-th request, with the headers and how long it waits. */
type Behaviour = (n: number, body: string) => { status: number; wait_ms?: number; retry_after_s?: number }

const fine = { status: 204 }
const BEHAVIOURS: Record<string, Behaviour> = {
  healthy: () => fine,
  ordered: () => fine,
  apple: () => fine,
  late: () => fine,
  dead: () => fine,
  flaky: (n) => (n % 12 === 3 || n % 12 === 4 ? { status: 500 } : fine),
  limited: (n) => (n % 8 === 5 ? { status: 429, retry_after_s: RETRY_AFTER_S } : fine),
  slow: (n) => (n % 10 === 2 ? { status: 0, wait_ms: TOO_SLOW_MS } : { ...fine, wait_ms: SLOW_MS }),
  gone: () => ({ status: 410 }),
  absent: () => fine,
  refusing: (_, body) => ({ status: body.includes('"type":"subscription.started"') ? 400 : 204 }),
}

const OF_REAL_TIME = ['slow', 'absent']
const NAMES = Object.keys(BEHAVIOURS).filter((name) => !(isTimeless && OF_REAL_TIME.includes(name)))

const textOf = (header: string | string[] | undefined): string => String(header ?? '')

/** Checks the signature as Standard Webhooks describes it. */
function isSigned({ headers }: IncomingMessage, body: string): boolean {
  const prefix = headers['webhook-id'] === undefined ? 'windfall' : 'webhook'
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    textOf(headers[`${prefix}-${name}`]),
  )
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return (signature ?? '').split(' ').includes(`v1,${expected}`)
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  const endpoint = (request.url ?? '').slice(1)
  const n = (counts.get(endpoint) ?? 0) + 1
  counts.set(endpoint, n)
  const { headers } = request
  const id = textOf(headers['webhook-id'] ?? headers['windfall-id'])
  const { status, wait_ms = 0, retry_after_s } = BEHAVIOURS[endpoint]?.(n, body) ?? { status: 404 }
  if (!isSigned(request, body)) faults.push(`${endpoint} ${id}: the signature is wrong`)
  const at = Date.now()
  const receipt: Receipt = {
    endpoint,
    id,
    attempt: Number(textOf(headers['windfall-attempt'])),
    status,
    at,
    ended_at: at + Math.min(wait_ms, PATIENCE_MS),
    sha256: createHash('sha256').update(body).digest('hex'),
    isReplay: headers['windfall-replay'] !== undefined,
  }
  receipts.push(receipt)
  await pass(wait_ms)
  receipt.ended_at = Math.min(Date.now(), at + PATIENCE_MS)
  // The server has died meanwhile, or its client.
  if (request.socket.destroyed) receipt.status = 0
  const more = retry_after_s === undefined ? {} : { 'retry-after': String(retry_after_s) }
  response.writeHead(status === 0 ? 204 : status, more).end()
}

async function listen(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port
const urlOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`

const server = await listen(0)
const mortal = await listen(0)
let isDead = false
// It keeps its port while it is dead: another program could listen there, and answer.
mortal.prependListener('connection', (socket) => {
  if (isDead) socket.destroy()
})

/** Nobody listens on port 1. */
const ADDRESSES: Record<string, string> = { dead: urlOf(mortal), absent: 'http://127.0.0.1:1' }

export type ReceiverQuestions = typeof questions
const questions = {
  /** The address of each endpoint. */
  urls: (): Record<string, string> =>
    Object.fromEntries(NAMES.map((name) => [name, `${ADDRESSES[name] ?? urlOf(server)}/${name}`])),
  /** The receiver of `dead` closes each connection without an answer. */
  die(): void {
    isDead = true
    mortal.closeAllConnections()
  },
  /** It answers again. */
  comeBack(): void {
    isDead = false
  },
  /** From now on, only this secret is known. */
  rotate(next: string): void {
    key = keyOf(next)
  },
  seen: () => ({ receipts, faults }),
}
answer(questions)
