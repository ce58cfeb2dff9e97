/** What we compute: where Windfall is reached when nobody has said so. */
import type { Config } from './settings.ts'

type Listening = Readonly<{ host: string; port: number }>

/** Listening on every network is no address that one could open; this machine's own stands for it. */
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The address of a server that nobody has given another, as in `http://127.0.0.1:8787`. */
export function listenUrl({ host, port }: Listening): string {
  const name = WILDCARDS[host] ?? host
  return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`).origin
}

/**
 * The configuration once it is known which port the server got, where port 0 asked for any. Changes `base_url`
 * alone, and only if that follows from the port.
 */
export function withPort(config: Config, port: number): Config {
  if (config.base_url !== listenUrl(config.server)) return config
  return Object.freeze({ ...config, base_url: listenUrl({ host: config.server.host, port }) })
}
