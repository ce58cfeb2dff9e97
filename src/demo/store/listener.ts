/** An HTTP server on the loopback interface that records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Clock } from '../../clock.ts'

export type HostName = 'connect' | 'production' | 'sandbox'

/** A received request. `body` is the parsed JSON body; null if there is none. */
export type StoreRequest = {
  host: HostName
  origin: string
  method: string
  path: string
  query: URLSearchParams
  authorization: string | null
  accept: string
  body: unknown
}

export type Answer = {
  status: number
  headers?: Record<string, string>
  json?: unknown
  body?: Buffer | string
}

export type Handler = (request: StoreRequest) => Answer | Promise<Answer>

/** A request with its time (by the store's clock) and the status of its response. */
export type LoggedRequest = {
  at: number
  host: HostName
  method: string
  path: string
  query: Record<string, string>
  body: unknown
  status: number
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return text
  }
}

/** The path and query of a request. Returns `/` for an invalid path, so that no path can stop the server. */
function urlOf(incoming: IncomingMessage): URL {
  return URL.parse(incoming.url ?? '/', 'http://store') ?? new URL('http://store/')
}

function write(response: ServerResponse, respond: Answer, now: number): void {
  const { status, headers = {}, json } = respond
  const body = json === undefined ? (respond.body ?? '') : JSON.stringify(json)
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  response.writeHead(status, { date: new Date(now).toUTCString(), ...type, ...headers })
  response.end(body)
}

type ListenerOptions = { host: HostName; clock: Clock; handler: Handler; requests: LoggedRequest[] }

/** Listens on 127.0.0.1, on any free port. */
export async function openListener({ host, clock, handler, requests }: ListenerOptions) {
  let origin = ''

  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = urlOf(incoming)
    const { method = 'GET', headers } = incoming
    const body = await bodyOf(incoming)
    const request: StoreRequest = {
      host,
      origin,
      method,
      path,
      query,
      authorization: headers.authorization ?? null,
      accept: headers.accept ?? '',
      body,
    }
    const answered = await handler(request)
    const { status } = answered
    requests.push({ at: clock(), host, method, path, query: Object.fromEntries(query), body, status })
    write(response, answered, clock())
  }

  const server = createServer((incoming, response) => {
    respond(incoming, response).catch((error) => {
      write(
        response,
        { status: 500, json: { simulated_store_failed: String(error?.stack ?? error) } },
        clock(),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the simulated store has no port')
  origin = `http://127.0.0.1:${address.port}`
  return {
    origin,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
