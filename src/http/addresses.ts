/** The client address of a request, seen through trusted proxies. */
import { BlockList, isIP, SocketAddress } from 'node:net'
import type { H3Event } from 'h3'

const PROXIES_BY_APP = new WeakMap<object, BlockList>()

// Bounds the work for long x-forwarded-for headers; real chains of proxies are shorter.
const MAX_PROXIES = 16

/** The address of a client that has already disconnected. It is never trusted, so it cannot spoof another. */
const UNKNOWN_ADDRESS = '0.0.0.0'

/** A list of trusted proxies from addresses and CIDR ranges. @throws Error if one is invalid. */
export function trustedProxies(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(range) ?? []
    const maxPrefix = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    const prefix = Number(bits ?? maxPrefix)
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
 * The rightmost address that is not a trusted proxy. `remote` is the peer of the connection, `forwarded` is the
 * x-forwarded-for header, whose left part a client can forge. An invalid entry ends the search at the proxy that sent
 * it.
 */
export function forwardedAddress(proxies: BlockList, remote: string, forwarded: string | undefined): string {
  let address = normalAddress(remote) ?? UNKNOWN_ADDRESS
  let rest = forwarded ?? ''
  for (let hop = 0; hop < MAX_PROXIES && rest !== '' && isTrusted(proxies, address); hop++) {
    const comma = rest.lastIndexOf(',')
    const before = normalAddress(rest.slice(comma + 1).trim())
    if (before === null) break
    address = before
    rest = comma === -1 ? '' : rest.slice(0, comma)
  }
  return address
}

/** Sets the trusted proxies of `app`. */
export function trustProxies(app: object, proxies: BlockList): void {
  PROXIES_BY_APP.set(app, proxies)
}

/** The client address, seen through trusted proxies. Requests made inside the process have 127.0.0.1. */
export function clientAddress(event: H3Event): string {
  const proxies = PROXIES_BY_APP.get(event.app ?? event)
  const node = event.runtime?.node
  const remote = node === undefined ? '127.0.0.1' : (node.req.socket.remoteAddress ?? UNKNOWN_ADDRESS)
  const header =
    node === undefined ? event.req.headers.get('x-forwarded-for') : node.req.headers['x-forwarded-for']
  const forwarded = header?.toString()
  return proxies === undefined ? remote : forwardedAddress(proxies, remote, forwarded)
}

/**
 * The key of rate limits for one client: an IPv4 address, or the /64 of an IPv6 address, the smallest network that
 * providers assign. `address` is as `clientAddress` returns it.
 */
export const addressBucketOf = (address: string): string =>
  address.includes(':') ? networkOf(address, 4) : address

/** The /48 of an IPv6 address, the largest network that providers commonly assign to one customer. Null for IPv4. */
export const siteBucketOf = (address: string): string | null =>
  address.includes(':') ? networkOf(address, 3) : null

/** The first `count` groups of an IPv6 address, sixteen bits each. */
function networkOf(address: string, count: number): string {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [
    ...before,
    ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'),
    ...after,
  ]
  return `${groups.slice(0, count).join(':')}::/${16 * count}`
}
