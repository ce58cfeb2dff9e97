/** A server on the loopback that sends scripted responses and records the requests. */
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ApiKey } from '../../../src/apple/api/keys.ts'
import type { Clock } from '../../../src/clock.ts'

/**
 * `json` is the body as an object. `cut` closes the connection within the body, `hang` never responds, and `drip` sends
 * a body without an end.
 */
export type Reply = {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  body?: Buffer | string
  cut?: boolean
  hang?: boolean
  drip?: boolean
}

type ScriptedRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
  token: string
}

function drips(response: ServerResponse): void {
  const dripping = setInterval(() => response.write(' '), 2)
  response.once('close', () => clearInterval(dripping))
}

function reply(response: ServerResponse, answer: Reply): void {
  const { status = 200, headers = {}, json, body, cut, hang, drip } = answer
  if (hang) return
  if (drip) return drips(response)
  const bytes = Buffer.from(body ?? (json === undefined ? '' : JSON.stringify(json)))
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  response.writeHead(status, { ...type, ...headers, 'content-length': bytes.length })
  if (!cut) return void response.end(bytes)
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy())
}

/** Responds with `script.answer`. `requests` has the requests so far, oldest first. */
export async function openScripted() {
  const requests: ScriptedRequest[] = []
  const script: { answer: (received: ScriptedRequest) => Reply } = { answer: () => ({ status: 500 }) }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'http://localhost')
    const received: ScriptedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      token: (request.headers.authorization ?? '').replace('Bearer ', ''),
    }
    requests.push(received)
    reply(response, script.answer(received))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** Sends these responses in order, and then repeats the last one. */
  function answerWith(...replies: Reply[]): void {
    const left = [...replies]
    script.answer = () => (left.length > 1 ? left.shift() : left[0]) ?? { status: 500 }
  }

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }

  return { host, requests, script, answerWith, close }
}

/** A key in Apple's format: P-256, PKCS #8. */
export function newKey(changes: Partial<ApiKey> = {}): ApiKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    key_id: 'ABC1234567',
    issuer_id: '57246542-96fe-1a63-e053-0824d011072a',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ...changes,
  }
}

/** Waits take no time: they advance the clock and are recorded. Random values are always 0.5. */
export function handWaits(clock: Clock & { turn(ms: number): void }) {
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms)
    clock.turn(ms)
  }
  return { waits, wait, random: () => 0.5 }
}
