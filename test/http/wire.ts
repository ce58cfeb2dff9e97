/** Talks to a server byte by byte, as no HTTP client would, and opens servers to talk to. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type Http, openHttp } from '../../src/http/http.ts'
import type { ListenOptions } from '../../src/http/listening/listener.ts'
import type { Route } from '../../src/http/route.ts'
import { listen } from '../../src/http/server.ts'
import { openLog } from '../../src/log.ts'

/** A route with what every test would write the same way. */
export function route(
  method: Route['method'],
  path: string,
  handler: Route['handler'],
  more: Partial<Route> = {},
) {
  return {
    method,
    path,
    summary: path,
    tag: 'Test',
    answers: { 200: { description: 'ok' } },
    handler,
    ...more,
  }
}

/** An application whose log lines are kept, as objects. */
export function openTestHttp(
  routes: readonly Route[],
  more: Omit<Parameters<typeof openHttp>[0], 'log'> = {},
): { http: Http; lines: () => Record<string, unknown>[] } {
  let written = ''
  const log = openLog({
    format: 'json',
    level: 'debug',
    write: (bytes) => {
      written += Buffer.from(bytes).toString()
    },
  })
  const http = openHttp({ log, ...more })
  http.add(routes)
  return {
    http,
    lines() {
      log.flush()
      return written
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    },
  }
}

/** The same on a free port, closed when the test ends. */
export async function serveTest(routes: readonly Route[], options: ListenOptions = {}) {
  const { http, lines } = openTestHttp(routes)
  const server = await listen(http, { port: 0, shutdown_ms: 100, ...options })
  onTestFinished(() => server.close())
  return { http, lines, server, port: server.port, url: server.url }
}

/** A connection to the port. What it does not live through is for the test to see, not to fail by. */
export async function dial(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** All that comes until the other side ends or closes the connection. */
export async function untilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return text
}

/** The next whole response that has a content-length, or what came of it before the connection closed. */
export function response(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    function take(chunk: Buffer): void {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (head === -1 || text.length < head + 4 + length) return
      socket.off('data', take)
      resolve(text)
    }
    socket.on('data', take)
    socket.once('close', () => resolve(text))
  })
}

/** Sends these bytes on a connection of their own and gives the answer. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await dial(port)
  const answer = response(socket)
  socket.write(bytes)
  const text = await answer
  socket.destroy()
  return text
}

/** A POST with this body, its length announced. */
export function post(path: string, body: string | Buffer, headers = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n${headers}`
  return Buffer.concat([Buffer.from(`${head}content-length: ${bytes.length}\r\n\r\n`), bytes])
}

/** The status of a response and the problem in its body. */
export function problemIn(answer: string): { status: number; code: unknown; detail: unknown } {
  const status = Number(answer.slice(9, 12))
  const { code, detail } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
  return { status, code, detail }
}
