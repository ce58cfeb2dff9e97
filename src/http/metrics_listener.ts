/** A listener of its own for metrics, without authentication: for a loopback or private address. */
import { createServer } from 'node:http'
import type { Log } from '../log.ts'

/** Where to listen, and what a request for `path` gets. */
type MetricsOptions = {
  host: string
  port: number
  path: string
  type: string
  read: () => Promise<string>
  log: Log
}

/** Listens. `close` ends all connections. @throws Error if the address cannot be used */
export async function openMetricsListener({ host, port, path, type, read, log }: MetricsOptions) {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (req, res) => {
    if (req.method !== 'GET' || req.url !== path)
      return void res.writeHead(404).end(`Metrics are at ${path}.\n`)
    read().then(
      (text) => res.writeHead(200, { 'content-type': type }).end(text),
      (error: unknown) => {
        log.error('the metrics could not be read', { error })
        res.writeHead(500).end('The metrics could not be read; the log says why.\n')
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
