/** A real Windfall on a socket, and a network in front of it that fails on request. */
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '../../src/http/server.ts'
import { NOW, transactionPayload } from '../apple/samples.ts'
import { APP, authority } from '../attribution/devices/enrolled.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'

/** What the network does with a request: `down` breaks the connection, `portal` is a page with status 200. */
type Weather = 'open' | 'down' | 'portal' | 429 | 302

export async function openServer(env: Record<string, string> = {}) {
  const app = await openTestApp({ apps: [APP], attest_roots: [authority.root_pem], env })
  const server = closedAtEnd(await listen(app.windfall.http, { port: 0 }))
  const network = await openNetwork(server.port)

  const user = async (id: string) => {
    const headers = { authorization: `Bearer ${await app.token()}` }
    const response = await app.request(`/api/v1/users/${encodeURIComponent(id)}`, { headers })
    return (await response.json()) as Record<string, unknown>
  }
  const signed = (id: string): string =>
    app.authority.sign(transactionPayload({ originalTransactionId: id, transactionId: id, signedDate: NOW }))
  const rows = (sql: string) => app.windfall.store.prepare<[], Record<string, unknown>>(sql).all()

  return { ...app, user, signed, rows, network, url: network.url }
}

async function openNetwork(port: number) {
  /** What happens to the next requests, and to those after them. */
  let weather: Weather[] = []
  let otherwise: Weather = 'open'
  /** The paths of all requests. */
  const paths: string[] = []

  const proxy = createServer((incoming, outgoing) => {
    paths.push(incoming.url ?? '')
    const now = weather.shift() ?? otherwise
    if (now === 'down') return incoming.destroy()
    if (now === 'portal') return outgoing.end('<html>Welcome to the hotel</html>')
    if (now === 429) return outgoing.writeHead(429, { 'retry-after': '1' }).end('{"code":"rate_limited"}')
    if (now === 302) return outgoing.writeHead(302, { location: '/hotel' }).end()
    const { method, headers, url } = incoming
    const forwarded = send({ port, method, headers, path: url }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
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
    setWeather(next: Weather[], after: Weather = 'open'): void {
      weather = next
      otherwise = after
    },
  }
}
