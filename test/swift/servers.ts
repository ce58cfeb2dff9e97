/** A real Windfall on a socket, and a network in front of it that fails on request. */
import { listen } from '../../src/http/server.ts'
import { NOW, transactionPayload } from '../apple/samples.ts'
import { APP, authority } from '../attribution/devices/enrolled.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'
import { openNetwork } from '../sdk/weather.ts'

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
