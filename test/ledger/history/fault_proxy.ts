/** A proxy between Windfall and the simulated store that can change requests and answers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** A request, with its JSON body. */
type ProxiedRequest = { method: string; path: string; page: string | null; body: Record<string, unknown> }
/** A response; `json` is undefined if the body is not JSON. */
export type Answer = { status: number; headers: Record<string, string>; json: Record<string, unknown> }
type Intercept = (question: ProxiedRequest, answer: Answer) => Answer | Promise<Answer>

export const refusal = (code: number, message = 'Refused.'): Answer => ({
  status: Math.floor(code / 10_000),
  headers: {},
  json: { errorCode: code, errorMessage: message },
})

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Forwards requests to `origin` until `close`. `intercept` may be set at any time. */
export async function openFaultProxy(origin: string) {
  const between: { intercept: Intercept } = { intercept: (_, answer) => answer }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming)
    const method = incoming.method ?? 'GET'
    const url = new URL(incoming.url ?? '/', origin)
    const { authorization = '' } = incoming.headers
    const given = await fetch(url, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(method === 'POST' && { body }),
    })
    const retry = given.headers.get('retry-after')
    const text = await given.text()
    const { status, headers, json } = await between.intercept(
      {
        method,
        path: url.pathname,
        page: url.searchParams.get('paginationToken'),
        body: body === '' ? {} : JSON.parse(body),
      },
      {
        status: given.status,
        headers: retry === null ? {} : { 'retry-after': retry },
        json: text.startsWith('{') ? JSON.parse(text) : {},
      },
    )
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(json))
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the fault proxy has no port')

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  return Object.assign(between, { origin: `http://127.0.0.1:${address.port}`, close })
}
