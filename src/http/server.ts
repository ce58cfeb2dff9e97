/** Serves the HTTP application on a listener. */
import { serve } from 'h3'
import { isProxy, requestAddress } from './addresses.ts'
import type { Http } from './http.ts'
import { type Listener, type ListenOptions, openListener } from './listening/listener.ts'

/**
 * Serves `http` on `listener` from now on, its waiting requests first. Add routes before. `close` ends streams, and
 * resolves when the last connection has ended.
 */
export function serveOn(listener: Listener, http: Http) {
  // Only the handler is used: the listener has the server.
  const { node } = serve(http.app, {
    manual: true,
    silent: true,
    gracefulShutdown: false,
    maxRequestBodySize: listener.max_body_bytes,
  })
  if (node?.handler === undefined) throw new Error('h3 created no handler for node:http')
  listener.handOver(node.handler, {
    addressOf: (req) => requestAddress(http.app, req),
    isProxy: (socket) => isProxy(http.app, socket),
    noteRefused: http.calls.noteConnection,
  })
  return {
    url: listener.url,
    port: listener.port,
    close(): Promise<void> {
      http.beginClosing()
      return listener.close()
    },
  }
}

/**
 * Listens on a port and serves `http` there, as `openListener` and `serveOn`.
 *
 * @throws Error with advice when the server cannot listen on the port.
 */
export const listen = async (http: Http, options: ListenOptions = {}) =>
  serveOn(await openListener(http.log, options), http)
