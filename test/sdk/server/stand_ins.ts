/** Small stand-ins for the packages and files that the examples of sdk/js/server.md import, with their types. */

/** The types, as far as the examples use them. */
export const DECLARATIONS = `
declare module 'express' {
  type Request = { body: Uint8Array; headers: Record<string, string | string[] | undefined> }
  type Response = { status(code: number): Response; send(text: string): void; end(): void }
  type Handler = (request: Request, response: Response, next: (error: unknown) => void) => void
  function express(): { post(path: string, parse: unknown, handler: Handler): void; listen(port: number): void }
  namespace express {
    function raw(options: { type: string; limit: string }): unknown
  }
  export default express
}
declare module 'pg' {
  export class Pool {
    query(text: string, values: unknown[]): Promise<unknown>
  }
}
declare module 'hono' {
  type Context<Bindings> = {
    req: { raw: Request; text(): Promise<string>; arrayBuffer(): Promise<ArrayBuffer> }
    env: Bindings
    body(body: null, status: number): Response
    text(text: string, status: 400 | 401 | 500): Response
  }
  export class Hono<Environment extends { Bindings: object }> {
    post(path: string, handler: (context: Context<Environment['Bindings']>) => Promise<Response>): void
  }
}
`

/** The file that examples import beside their client. */
export const DATABASE = `import type { FeedEvent } from 'windfall-sdk/server'

export async function* customers() {
  yield { id: 'user-1', transaction: '2000000123456789', plan: 'pro' }
  yield { id: 'null', transaction: '2000000123456790', plan: 'free' }
}
const stored = { seq: 0 }
export const storedSeq = async (): Promise<number> => stored.seq
export async function storeEvents(events: FeedEvent[], next: number): Promise<void> {
  stored.seq = next
  console.log(next, events.map(({ type }) => type).join(' '))
}
`

const STORE = 'globalThis.stored ??= []'

/** Stand-ins that run, by the name of the import. */
export const PACKAGES: Readonly<Record<string, string>> = {
  express: `import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
export default function express() {
  let handle
  return {
    post: (path, parse, handler) => void (handle = handler),
    listen: (port) => createServer(async (request, response) => {
      request.body = await buffer(request)
      response.status = (status) => Object.assign(response, { statusCode: status })
      response.send = (text) => response.end(text)
      await handle(request, response, () => response.status(500).end())
    }).listen(port),
  }
}
express.raw = () => 'raw'`,
  pg: `${STORE}
export class Pool {
  async query(sql, [id, event]) {
    if (sql !== 'select receive_webhook($1, $2)') throw new Error('another query')
    if (id === 'evt_failing') throw new Error('the database is down')
    stored.push({ id, event })
  }
}`,
  hono: `${STORE}
const send = async (event) => {
  if (event.data.id === 'evt_failing') throw new Error('the queue is down')
  stored.push({ id: event.data.id, event })
}
export class Hono {
  post(path, handler) {
    globalThis.handler = (raw) => handler({
      req: { raw, text: () => raw.text(), arrayBuffer: () => raw.arrayBuffer() },
      env: { WINDFALL_WEBHOOK_SECRET: process.env.WINDFALL_WEBHOOK_SECRET, EVENTS: { send } },
      body: (body, status) => new Response(body, { status }),
      text: (text, status) => new Response(text, { status }),
    })
  }
}`,
}
