/** Parses addresses and networks in settings. */
import { isIPv4, SocketAddress } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An entry of `outbound.allow`. `port` is null if every port is permitted. */
type AllowedNetwork = Readonly<{ start: ipaddr.IPv4 | ipaddr.IPv6; bits: number; port: number | null }>

/**
 * 4 or 6, the version of an IP address without a zone; 0 for any other text. `net.isIP` compiles a regular expression
 * for IPv6, which takes 3 ms of a start.
 */
export function addressFamily(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4
  if (!text.includes(':') || text.includes('%')) return 0
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).family === 'ipv6' ? 6 : 0
  } catch {
    return 0
  }
}

/** Whether the text is an IP address or a range in CIDR form. Zones (`fe80::1%eth0`) are not accepted. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, extras] = text.split('/')
  if (addressFamily(address) === 0 || extras !== undefined) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits(address))
}

const maxBits = (address: string): number => (isIPv4(address) ? 32 : 128)

/**
 * Parses an entry of `outbound.allow`: an address or a network in CIDR form, optionally with a port, such as
 * `10.0.0.0/8:8080` or `[fd00::/8]:8080`. If it is invalid, `problem` completes a sentence about it.
 */
export function parseAllowedNetwork(text: string): AllowedNetwork | Readonly<{ problem: string }> {
  const [, range = text, portText] =
    /^\[([^\]]*)\](?::(\d+))?$/.exec(text) ?? /^([\d./]+):(\d+)$/.exec(text) ?? []
  if (!isAddressRange(range)) return { problem: 'is not an IP address or a network in CIDR form' }
  const port = portText === undefined ? null : Number(portText)
  if (port !== null && (port < 1 || port > 65_535))
    return { problem: 'has a port that is not from 1 to 65535' }
  const [address = '', bitsText] = range.split('/')
  const start = ipaddr.parse(address)
  if (start instanceof ipaddr.IPv6 && start.isIPv4MappedAddress())
    return { problem: `is an IPv4 address in IPv6 form; "${start.toIPv4Address()}" is the same address` }
  const bits = bitsText === undefined ? maxBits(address) : Number(bitsText)
  const first = firstAddress(`${address}/${bits}`)
  if (first !== start.toString())
    return { problem: `does not begin at the first address of its network; "${first}/${bits}" does` }
  return { start, bits, port }
}

const firstAddress = (range: string): string =>
  (range.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4).networkAddressFromCIDR(range).toString()
