/** Listens before the program is loaded and opened, so that a request never meets a closed port during a start. */
import type { Windfall } from '../../app.ts'
import type { AppOptions } from '../../app_options.ts'
import type { Config } from '../../config/settings.ts'
import { type Listener, openListener } from '../../http/listening/listener.ts'
import type { Log } from '../../log.ts'
import { yieldToEventLoop } from '../../turns.ts'

/** Listens for a program that is open; with `anyPort`, on a free port if the configured port is taken. */
export async function listenFor(
  windfall: Windfall,
  config: Config,
  log: Log,
  anyPort = false,
): Promise<Listener> {
  try {
    return await listenOnPort(config, log)
  } catch (error) {
    if (anyPort) return listenOnPort(config, log, 0)
    await windfall.close()
    throw error
  }
}

/** Listens on the configured port. @throws Error with advice when that fails */
export function listenOnPort({ server }: Config, log: Log, port: number = server.port): Promise<Listener> {
  return openListener(log, {
    host: server.host,
    port,
    max_connections: server.max_connections,
    headers_timeout_ms: server.headers_timeout_seconds * 1000,
    request_timeout_ms: server.request_timeout_seconds * 1000,
    keep_alive_ms: server.keep_alive_seconds * 1000,
    shutdown_ms: server.shutdown_seconds * 1000,
    // The largest limit that can be configured. Each request has its configured limit, which can change while serving.
    max_body_bytes: 67_108_864,
  })
}

/**
 * The parts of the program in slices: to load it takes as long as to open it, and the listener answers between two
 * slices. The largest, h3, comes late, because the first request often waits already.
 */
const PARTS = [
  () => import('../../store/open_file.ts'),
  () => import('../../ledger/ledger.ts'),
  () => import('../../metrics/figures.ts'),
  () => import('../../forwarding/forwarding.ts'),
  () => import('../../http/http.ts'),
  () => import('../../api/routes.ts'),
]

/** Loads and opens the program while `listener` answers. If that fails, closes the listener. */
export async function openWhileListening(listener: Listener, options: AppOptions): Promise<Windfall> {
  try {
    for (const loadPart of PARTS) {
      // One turn accepts a connection, and the next reads its request.
      await yieldToEventLoop()
      await yieldToEventLoop()
      await loadPart()
    }
    await yieldToEventLoop()
    const { openApp } = await import('../../app.ts')
    return await openApp(options)
  } catch (error) {
    await listener.close()
    throw error
  }
}
