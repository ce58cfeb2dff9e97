/** Determines the client address of a request behind trusted proxies. */
import { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket, SocketAddress } from 'node:net'
import type { H3Event } from 'h3'
import { addressFamily } from '../config/checks/address_ranges.ts'

const PROXIES_BY_APP = new WeakMap<object, BlockList>()
const NO_PROXIES = new BlockList()

// The maximum number of entries that are read from x-forwarded-for. Real chains of proxies are shorter.
const MAX_PROXIES = 16

/** The address of a client that has already disconnected. It is no trusted proxy, so its headers are not used. */
const UNKNOWN_ADDRESS = '0.0.0.0'

/** Parses trusted proxies from addresses and CIDR ranges. @throws Error if a range is invalid */
export function trustedProxies(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [, address = '', prefixText] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(range) ?? []
    const maxPrefix = { 0: -1, 4: 32, 6: 128 }[addressFamily(address)]
    const prefix = Number(prefixText ?? maxPrefix)
    if (maxPrefix === -1 || prefix > maxPrefix)
      throw new Error(`${range} is not an IP address or a CIDR range`)
    list.addSubnet(address, prefix, maxPrefix === 32 ? 'ipv4' : 'ipv6')
  }
  return list
}

/**
 * The canonical form of an address: IPv6 as in RFC 5952 without a zone, IPv4-mapped IPv6 as IPv4; null if the text is
 * not an address. A port after the address, which some proxies add, is dropped.
 */
export function normalAddress(text: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const version = isIP(bare)
  if (version === 4) return bare
  if (version !== 6) return null
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  return /^::ffff:([\d.]+)$/.exec(address)?.[1] ?? address
}

function isTrusted(proxies: BlockList, address: string): boolean {
  return proxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}

/**
 * The rightmost address that is not a trusted proxy. `remote` is the peer of the connection, `forwarded` the
 * x-forwarded-for header. A client can forge the entries on the left, so the search starts at the right. If an entry is
 * invalid, the result is the proxy that added the entry.
 */
export function forwardedAddress(proxies: BlockList, remote: string, forwarded: string | undefined): string {
  let address = normalAddress(remote) ?? UNKNOWN_ADDRESS
  let unread = forwarded ?? ''
  for (let hop = 0; hop < MAX_PROXIES && unread !== '' && isTrusted(proxies, address); hop++) {
    const comma = unread.lastIndexOf(',')
    const nextAddress = normalAddress(unread.slice(comma + 1).trim())
    if (nextAddress === null) break
    address = nextAddress
    unread = comma === -1 ? '' : unread.slice(0, comma)
  }
  return address
}

/** Whether the peer of a connection is a trusted proxy. */
export function isTrustedPeer(proxies: BlockList, remote: string): boolean {
  const address = normalAddress(remote)
  return address !== null && isTrusted(proxies, address)
}

/** Sets the trusted proxies of `app`. */
export function trustProxies(app: object, proxies: BlockList): void {
  PROXIES_BY_APP.set(app, proxies)
}

/** The address of the peer of a connection, which may be a proxy. */
export const peerAddress = ({ remoteAddress }: Partial<Pick<Socket, 'remoteAddress'>>): string =>
  normalAddress(remoteAddress ?? '') ?? UNKNOWN_ADDRESS

/** Whether the peer of a connection to `app` is a trusted proxy. */
export const isProxy = (app: object, socket: Socket): boolean =>
  isTrusted(proxiesOf(app), peerAddress(socket))

/** The client address of a request to `app` that came over a connection, behind trusted proxies. */
export const requestAddress = (app: object, { socket, headers }: IncomingMessage): string =>
  forwardedAddress(proxiesOf(app), peerAddress(socket), headers['x-forwarded-for']?.toString())

/** The client address of a request, behind trusted proxies. A request from inside the process has 127.0.0.1. */
export function clientAddress(event: H3Event): string {
  const app = event.app ?? event
  const req = event.runtime?.node?.req
  if (req instanceof IncomingMessage) return requestAddress(app, req)
  return forwardedAddress(proxiesOf(app), '127.0.0.1', event.req.headers.get('x-forwarded-for') ?? undefined)
}

const proxiesOf = (app: object): BlockList => PROXIES_BY_APP.get(app) ?? NO_PROXIES
