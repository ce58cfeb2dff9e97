/** What we compute: whether a request is meant for this server, so that no other site's name can be pointed at it. */
import { Refusal } from '../errors.ts'

const HOST_SHAPE = /^(\[[0-9a-f:.]+\]|(?:[\w-]+\.)*[\w-]+)\.?(?::\d{0,5})?$/i
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.+\.)?localhost)$/

/** The name in a Host header, in small letters, without port and closing dot; null where it cannot be a host. */
export function hostName(header: string): string | null {
  return HOST_SHAPE.exec(header)?.[1]?.toLowerCase() ?? null
}

/** Whether a Host header names this machine itself, from within. */
export const isLoopback = (header: string): boolean => LOOPBACK.test(hostName(header) ?? '')

function misdirected(): Refusal {
  return new Refusal(
    421,
    'misdirected',
    'This server does not answer for the host that was asked for. If the host is right, add it to `hosts` in the ' +
      '[server] section of config.toml, or make it the host of `base_url`.',
  )
}

/**
 * Opens the check of whom a request is for: the host of `base_url`, every loopback name and address, and `hosts`. Ports
 * are not compared, a proxy may change them. `onForeign` hears of every other host that was asked for.
 */
export function openHosts(
  options: { base_url?: string | undefined; hosts?: readonly string[] | undefined },
  onForeign: (host: string) => void,
) {
  const named = (options.hosts ?? []).map((host) => (host.includes(':') ? `[${host}]` : host).toLowerCase())
  const known = new Set(named)
  if (options.base_url !== undefined) known.add(new URL(options.base_url).hostname)

  // Nearly every request names the same host.
  let lastKnown: string | null = null

  /** Throws a `Refusal`: 400 for what cannot be a host, 421 for a foreign one and for a request in absolute form. */
  return function demandOurs(target: string, host: string): void {
    if (host === lastKnown && target.startsWith('/')) return
    const name = hostName(host)
    if (name === null)
      throw new Refusal(400, 'invalid_host', 'The request needs one Host header that names a host.')
    const isKnown = known.has(name) || LOOPBACK.test(name)
    if (!isKnown) onForeign(name)
    if (!isKnown || !target.startsWith('/')) throw misdirected()
    lastKnown = host
  }
}
