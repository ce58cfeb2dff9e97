/** A Windfall on a real socket, and clients of it. */
import { onTestFinished } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../../../sdk/js/src/server/server.ts'
import { listen } from '../../../src/http/server.ts'
import { openTestApp, type TestApp, type TestOptions } from '../../helpers.ts'

export type Served = TestApp & { url: string; clientOf: (options?: Partial<ClientOptions>) => Client }

/** Opens a Windfall that listens on a free port, by default with all credentials in its clients. */
export async function openServed(options: TestOptions = {}): Promise<Served> {
  const app = await openTestApp(options)
  const url = await serve(app)
  const [secretKey, readToken] = [await app.key('secret'), await app.token()]
  const { clock } = app
  /** Waiting turns the clock of the server. */
  const wait = async (ms: number): Promise<void> => clock.turn(ms)
  const clientOf = (more: Partial<ClientOptions> = {}): Client =>
    createClient({ url, secretKey, readToken, wait, ...more })
  return Object.assign(app, { url, clientOf })
}

/** Listens until the test ends, and returns the URL. */
export async function serve({ windfall }: TestApp): Promise<string> {
  const server = await listen(windfall.http, { port: 0, shutdown_ms: 100 })
  onTestFinished(() => server.close())
  return server.url
}
