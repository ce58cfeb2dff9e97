/** The default base URL, derived from the address and port of [server]. */
import type { Config } from './settings.ts'

type Listening = Readonly<{ host: string; port: number }>

/** A wildcard address cannot be opened in a browser; the loopback address replaces it. */
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The default base URL of a server, such as `http://127.0.0.1:8787`. */
export function listenUrl({ host, port }: Listening): string {
  const name = WILDCARDS[host] ?? host
  return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`).origin
}

/**
 * The configuration with the port that the server listens on. With port 0 that port is known only then. Changes only
 * `base_url`, and only if it is derived from the port.
 */
export function withPort(config: Config, port: number): Config {
  if (config.base_url !== listenUrl(config.server)) return config
  return Object.freeze({ ...config, base_url: listenUrl({ host: config.server.host, port }) })
}
