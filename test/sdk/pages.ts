/** Pages of an app in a browser. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closedAtEnd } from '../closing.ts'
import { built } from './built.ts'

/** The origin of the app: an empty page, with these headers, and the SDK. Returns the address of the page. */
export async function servePages(headers: Record<string, string> = {}): Promise<string> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/sdk.mjs'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    // A page of an opaque origin loads modules across origins.
    response.setHeader('access-control-allow-origin', '*')
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.end(isScript ? built('index.mjs') : '<!doctype html><title>app</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closedAtEnd({
    async close() {
      server.closeAllConnections()
      server.close()
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
