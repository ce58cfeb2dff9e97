/** Groups client addresses, so that limits hold for a client that has many of them. */
import type { H3Event } from 'h3'
import { clientAddress } from '../addresses.ts'

/**
 * A client as limits see it. `address` is an IPv4 address or the /64 of an IPv6 address, the smallest network that
 * providers assign. `network` is the /24 or the /48 around it, the largest that they commonly assign to one customer.
 */
export type Client = Readonly<{ address: string; network: string }>

/** The client that sent a request. */
export const clientOf = (event: H3Event): Client => clientAt(clientAddress(event))

/** The client with an address, which is as `clientAddress` returns it. */
export function clientAt(address: string): Client {
  if (address.includes(':')) return { address: groupsOf(address, 4), network: groupsOf(address, 3) }
  return { address, network: `${address.split('.').slice(0, 3).join('.')}.0/24` }
}

/** The first `count` groups of an IPv6 address, sixteen bits each. */
function groupsOf(address: string, count: number): string {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, count).join(':')}::/${16 * count}`
}
