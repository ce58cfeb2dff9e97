/** A network in front of a real server, which fails on request. */
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closedAtEnd } from '../closing.ts'

/**
 * What the network does with a request: `down` breaks the connection, `portal` is a page with status 200 that sets a
 * cookie.
 */
type Weather = 'open' | 'down' | 'portal' | 429 | 302

/** All that is not an answer of Windfall, one after another. */
export const STORM: readonly Weather[] = [429, 429, 'portal', 302, 'down']
/** What the debug lines of an SDK say of a call through the storm. */
export const STORM_ANSWERS = ['429 rate_limited', '429 rate_limited', '200', '302', 'no connection', '200']

/** Opens the network in front of the server on this port of this machine. */
export async function openNetwork(port: number) {
  /** What happens to the next requests, and to those after them. */
  let weather: Weather[] = []
  let otherwise: Weather = 'open'
  /** The paths and the headers of all requests. */
  const paths: string[] = []
  const headers: IncomingHttpHeaders[] = []

  const proxy = createServer((incoming, outgoing) => {
    paths.push(incoming.url ?? '')
    headers.push(incoming.headers)
    const now = weather.shift() ?? otherwise
    if (now === 'down') return incoming.destroy()
    if (now === 'portal')
      return outgoing
        .writeHead(200, { 'set-cookie': 'guest=1; Path=/' })
        .end('<html>Welcome to the hotel</html>')
    if (now === 429) return outgoing.writeHead(429, { 'retry-after': '1' }).end('{"code":"rate_limited"}')
    if (now === 302) return outgoing.writeHead(302, { location: '/hotel' }).end()
    const { method, url } = incoming
    const forwarded = send({ port, method, headers: incoming.headers, path: url }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    // The server or the client can end in the middle of a call.
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  closedAtEnd({
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
    },
  })
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    paths,
    headers,
    setWeather(next: readonly Weather[], after: Weather = 'open'): void {
      weather = [...next]
      otherwise = after
    },
  }
}
