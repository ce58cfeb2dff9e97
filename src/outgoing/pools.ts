/** Pools of connections to permitted addresses. Their library, undici, is a third of the program: load this file late. */
import { Agent, Client, Pool } from 'undici'
import { type ConnectorOptions, openConnector } from './connector.ts'

/** The connection of a request, once it is established. */
export type Connection = { address: string }

/** Opens pools of connections. It has no deadlines: each request has its own. */
export function openPools(options: ConnectorOptions): Agent {
  const connectorFor = openConnector(options)
  const client = (origin: URL, options: object): Client => openClient(origin, options, connectorFor)
  return new Agent({
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin, options) => new Pool(origin, { ...options, factory: client }),
  })
}

/** Opens one connection of a pool. Its requests learn the address of the connection through `opaque`. */
function openClient(origin: URL, options: object, connectorFor: ReturnType<typeof openConnector>): Client {
  const connection: Connection = { address: '' }
  const connect = connectorFor((address) => {
    connection.address = address
  })
  const client = new Client(origin, { ...options, connect })
  const dispatch = client.dispatch.bind(client)
  client.dispatch = (request, handler) => {
    if ('opaque' in request) Object.assign(request.opaque as object, { connection })
    return dispatch(request, handler)
  }
  return client
}
