/** Checks the Host header against the hosts of this server, as protection against DNS rebinding. */
import { Refusal } from '../errors.ts'

const HOST_SHAPE = /^(\[[0-9a-f:.]+\]|(?:[\w-]+\.)*[\w-]+)\.?(?::\d{0,5})?$/i
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.+\.)?localhost)$/

/** The name in a Host header, in lower case, without port and trailing dot; null if it is not a host. */
export function hostName(header: string): string | null {
  return HOST_SHAPE.exec(header)?.[1]?.toLowerCase() ?? null
}

/** Whether a Host header is a loopback name or address. */
export const isLoopback = (header: string): boolean => LOOPBACK.test(hostName(header) ?? '')

function misdirected(): Refusal {
  return new Refusal(
    421,
    'misdirected',
    'The host of the request is not a host of this server. If the host is correct, add it to `hosts` in the [server] ' +
      'section of config.toml, or make it the host of `base_url`.',
  )
}

/**
 * Opens the host check. It accepts the host of `base_url`, every loopback name and address, and `hosts`. It ignores
 * ports, which a proxy may change. It calls `onForeign` with every other host.
 */
export function openHosts(
  options: { base_url?: string | undefined; hosts?: readonly string[] | undefined },
  onForeign: (host: string) => void,
) {
  const configuredNames = (options.hosts ?? []).map((host) =>
    (host.includes(':') ? `[${host}]` : host).toLowerCase(),
  )
  const acceptedNames = new Set(configuredNames)
  if (options.base_url !== undefined) acceptedNames.add(new URL(options.base_url).hostname)

  // Caches the last accepted host, because almost every request has the same host.
  let lastAccepted: string | null = null

  /** @throws Refusal 400 if the Host header is invalid, 421 for a foreign host and for a target in absolute form. */
  return function assertHost(target: string, host: string): void {
    if (host === lastAccepted && target.startsWith('/')) return
    const name = hostName(host)
    if (name === null)
      throw new Refusal(400, 'invalid_host', 'The request needs exactly one valid Host header.')
    const isAccepted = acceptedNames.has(name) || LOOPBACK.test(name)
    if (!isAccepted) onForeign(name)
    if (!isAccepted || !target.startsWith('/')) throw misdirected()
    lastAccepted = host
  }
}
