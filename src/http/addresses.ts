/** What we compute: the address a request came from, seen through the proxies we trust and no others. */
import { BlockList, isIP, SocketAddress } from 'node:net'
import type { H3Event } from 'h3'

const PROXIES_BY_APP = new WeakMap<object, BlockList>()

// Longer chains of trusted proxies do not exist; longer headers do.
const MAX_PROXIES = 16

/** Stands for a caller who was gone before we looked. It is never trusted, so nobody can pass for another with it. */
const UNKNOWN_ADDRESS = '0.0.0.0'

/** The proxies whose word on addresses is taken: single addresses and ranges in CIDR form. Throws on anything else. */
export function trustedProxies(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(range) ?? []
    const maxPrefix = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    const prefix = Number(bits ?? maxPrefix)
    if (maxPrefix === -1 || prefix > maxPrefix)
      throw new Error(`${range} is not an address or a range of addresses`)
    list.addSubnet(address, prefix, maxPrefix === 32 ? 'ipv4' : 'ipv6')
  }
  return list
}

/**
 * The address in its one spelling: IPv6 in the short form of RFC 5952 without a zone, IPv4 within IPv6 unwrapped; null
 * where the text is none. A port behind the address, which some proxies write, is dropped.
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
 * The rightmost address that is not a trusted proxy: `remote` is the other end of the connection, `forwarded` the
 * x-forwarded-for header, whose left part anybody can write. What is no address ends the walk at the proxy that sent it.
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

/** From now on `app` believes these proxies. */
export function trustProxies(app: object, proxies: BlockList): void {
  PROXIES_BY_APP.set(app, proxies)
}

/** The caller's address, trusted proxies looked through. Requests made inside the process come from 127.0.0.1. */
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
 * What one caller is counted under: an IPv4 address itself, of an IPv6 address its /64, which is the least that one
 * customer gets. `address` as `clientAddress` gives it.
 */
export const addressBucketOf = (address: string): string =>
  address.includes(':') ? networkOf(address, 4) : address

/** The network that an IPv6 address is in: its /48, which is the most that one customer commonly gets. Null for IPv4. */
export const siteBucketOf = (address: string): string | null =>
  address.includes(':') ? networkOf(address, 3) : null

/** The first so many groups of an IPv6 address, sixteen bits each. */
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
