/**
 * Remembers what browsers and proxies send, so that the doctor can compare it with `base_url` and `trusted_proxies`.
 * Everything is counted since the start of the server or the last change of its settings.
 */
import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { isTrustedPeer, normalAddress } from '../addresses.ts'

/** The header of the request that the doctor sends to the server's own base URL. */
export const PROBE_HEADER = 'x-windfall-probe'

/** The maximum number of different values that are remembered, because any client can invent them. */
const MAX_VALUES = 20
/** Longer values are not remembered. A host name has at most 253 characters. */
const MAX_CHARACTERS = 300

/** A value that was seen in `requests` requests. */
type SeenValue = { value: string; requests: number }

/** The request that arrived for a probe. `peer` is the address of the connection, such as that of a proxy. */
export type ProbeArrival = {
  host: string | null
  peer: string
  is_trusted: boolean
  forwarded_for: string | null
  forwarded_proto: string | null
}

export type SeenRequests = ReturnType<typeof openSeenRequests>

/** Opens the memory. `reset` sets the trusted proxies and forgets everything. */
export function openSeenRequests() {
  let proxies: BlockList | null = null
  let requests = 0
  const originsOfBrowsers = new Map<string, number>()
  const foreignHosts = new Map<string, number>()
  const untrustedPeers = new Map<string, number>()
  const probes = openProbes()

  function reset(trusted: BlockList): void {
    proxies = trusted
    requests = 0
    for (const seen of [originsOfBrowsers, foreignHosts, untrustedPeers]) seen.clear()
  }

  /** Notes a request whose host was accepted. */
  function note({ headers, socket }: IncomingMessage): void {
    requests += 1
    const forwarded = headers['x-forwarded-for'] ?? headers.forwarded
    if (forwarded !== undefined && !isTrusted(socket.remoteAddress))
      count(untrustedPeers, normalAddress(socket.remoteAddress ?? '') ?? '')
    if (headers['sec-fetch-site'] === 'same-origin' && headers.origin !== undefined)
      count(originsOfBrowsers, headers.origin)
    const probe = headers[PROBE_HEADER]
    if (typeof probe === 'string') probes.note(probe, () => arrivalOf(headers, socket))
  }

  const isTrusted = (address: string | undefined): boolean =>
    proxies !== null && isTrustedPeer(proxies, address ?? '')

  function arrivalOf(headers: IncomingMessage['headers'], socket: IncomingMessage['socket']): ProbeArrival {
    return {
      host: headers.host ?? null,
      peer: normalAddress(socket.remoteAddress ?? '') ?? '',
      is_trusted: isTrusted(socket.remoteAddress),
      forwarded_for: textOf(headers['x-forwarded-for']),
      forwarded_proto: textOf(headers['x-forwarded-proto']),
    }
  }

  /** Notes a request for a host that is not a host of this server. */
  const noteForeignHost = (host: string): void => count(foreignHosts, host)

  return {
    reset,
    note,
    noteForeignHost,
    expectProbe: probes.expect,
    /** The number of requests whose host was accepted. */
    requests: (): number => requests,
    /** The origins from which browsers used the dashboard, most frequent first. */
    browserOrigins: (): SeenValue[] => valuesOf(originsOfBrowsers),
    /** The hosts that were refused with 421, most frequent first. */
    refusedHosts: (): SeenValue[] => valuesOf(foreignHosts),
    /** The peers that sent a forwarding header and are no trusted proxy, most frequent first. */
    untrustedForwarders: (): SeenValue[] => valuesOf(untrustedPeers),
  }
}

/** Opens the probes that are under way. */
function openProbes() {
  const arrivals = new Map<string, ProbeArrival | null>()

  /** Expects a request with `id` in its `PROBE_HEADER`. The returned function says what arrived, and ends the wait. */
  function expect(id: string): () => ProbeArrival | null {
    arrivals.set(id, null)
    return () => {
      const arrival = arrivals.get(id) ?? null
      arrivals.delete(id)
      return arrival
    }
  }

  function note(id: string, arrivalOf: () => ProbeArrival): void {
    if (arrivals.has(id)) arrivals.set(id, arrivalOf())
  }

  return { expect, note }
}

function count(seen: Map<string, number>, value: string): void {
  const before = seen.get(value)
  if (before === undefined && (seen.size >= MAX_VALUES || value.length > MAX_CHARACTERS)) return
  seen.set(value, (before ?? 0) + 1)
}

const valuesOf = (seen: ReadonlyMap<string, number>): SeenValue[] =>
  [...seen]
    .map(([value, requests]) => ({ value, requests }))
    .sort((a, b) => b.requests - a.requests || a.value.localeCompare(b.value))

const textOf = (header: string | string[] | undefined): string | null => header?.toString() ?? null
