/**
 * The proxy of `npm run dev`: serves the page of the last build, forwards everything else to the server, and reloads
 * browsers. A request that arrives during a restart of the server waits.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The page's files by address. */
export type PageFiles = Record<string, { type: string; bytes: Uint8Array }>

const RELOADS = '/dev/reloads'
const SCRIPT = '/dev/reload.js'
const RELOAD = `new EventSource('${RELOADS}').onmessage = () => location.reload()`
/** Headers of the server's page that do not apply to the page served here. */
const OF_THE_BODY = ['content-length', 'content-encoding', 'etag', 'cache-control']

/**
 * Listens on 127.0.0.1; port 0 selects a free port.
 *
 * @throws Error EADDRINUSE if the port is taken.
 */
export async function openProxy(port: number) {
  let files: PageFiles = {}
  let server: Promise<string> = new Promise(() => {})
  const browsers = new Set<ServerResponse>()

  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(asked.url ?? '/', 'http://localhost')
    if (pathname === RELOADS) return listenFor(response)
    if (pathname === SCRIPT) return send(response, 'text/javascript', RELOAD)
    const file = pathname === '/' ? undefined : files[pathname]
    if (file) return send(response, file.type, file.bytes)
    forward(new URL(asked.url ?? '/', await server), asked, response)
  }

  function listenFor(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write(': connected\n\n')
    browsers.add(response)
    response.on('close', () => browsers.delete(response))
  }

  function forward(to: URL, asked: IncomingMessage, response: ServerResponse): void {
    const { method, headers } = asked
    const onward = request(to, { method, headers }, (answered) => {
      const isPage = method === 'GET' && /^text\/html\b/.test(answered.headers['content-type'] ?? '')
      if (isPage) return sendPage(answered, response)
      response.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.on('error', () => response.destroy())
      answered.pipe(response)
    })
    onward.on('error', (error) => refuse(response, error.message))
    response.on('close', () => onward.destroy())
    asked.pipe(onward)
  }

  /** Sends the page of the last build with the server's status and headers, because the path may be unknown. */
  function sendPage(answered: IncomingMessage, response: ServerResponse): void {
    answered.resume()
    const headers = Object.entries(answered.headers).filter(([name]) => !OF_THE_BODY.includes(name))
    const html = Buffer.from(files['/']?.bytes ?? '').toString()
    response.writeHead(answered.statusCode ?? 200, {
      ...Object.fromEntries(headers),
      'cache-control': 'no-store',
    })
    response.end(html.replace('</head>', `<script type="module" src="${SCRIPT}"></script>\n</head>`))
  }

  const listener = createServer((asked, response) => {
    answer(asked, response).catch((error) => refuse(response, error.message))
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject).listen(port, '127.0.0.1', resolve)
  })

  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    /** Forwards requests to the server at this address. Requests wait until `url` resolves. */
    forwardTo(url: Promise<string>): void {
      server = url
      // Each waiting request handles the error itself.
      url.catch(() => {})
    },
    /** Replaces the files of the page. */
    show(page: PageFiles): void {
      files = page
    },
    /** Reloads the page in every browser that has it open. */
    reload(): void {
      for (const browser of browsers) browser.write('data: reload\n\n')
    },
    close(): void {
      listener.close()
      listener.closeAllConnections()
    },
  }
}

function send(response: ServerResponse, type: string, body: string | Uint8Array): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(body)
}

function refuse(response: ServerResponse, why: string): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(502, { 'content-type': 'text/plain' })
  response.end(`The server does not answer: ${why}\n`)
}
