/** Listens before the program is loaded and opened, so that a request never meets a closed port during a start. */
import type { Windfall } from '../../app.ts'
import type { AppOptions } from '../../app_options.ts'
import type { Config } from '../../config/settings.ts'
import { type Listener, openListener } from '../../http/listening/listener.ts'
import type { Log } from '../../log.ts'
import { yieldToEventLoop } from '../../turns.ts'

/**
 * Listens on the configured port; with `anyPort`, on a free port if that one is taken.
 *
 * @throws Error with advice when that fails.
 */
export async function listenOnPort({ server }: Config, log: Log, anyPort = false): Promise<Listener> {
  const listening = listen(server, log, server.port)
  return anyPort ? listening.catch(() => listen(server, log, 0)) : listening
}

function listen(server: Config['server'], log: Log, port: number): Promise<Listener> {
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

/** Loads, opens and prepares the program while `listener` answers. If that fails, closes both. */
export async function openWhileListening(
  listener: Listener,
  options: AppOptions,
  prepare: (windfall: Windfall) => Promise<void> = async () => {},
): Promise<Windfall> {
  try {
    for (const loadPart of PARTS) {
      // One turn accepts a connection, and the next reads its request.
      await yieldToEventLoop()
      await yieldToEventLoop()
      await loadPart()
    }
    await yieldToEventLoop()
    const { openApp } = await import('../../app.ts')
    const windfall = await openApp(options)
    await prepare(windfall).catch(async (error: unknown) => {
      await windfall.close()
      throw error
    })
    return windfall
  } catch (error) {
    await listener.close()
    throw error
  }
}
