/** Resolves host names, and checks their addresses against the rules. */
import { promises as dns, type LookupAddress } from 'node:dns'
import { openLimiter, openQueue } from '../limiter.ts'
import type { AddressRules } from './address_rules.ts'
import { codeOf, OutgoingError } from './failures.ts'

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** How many lookups run at once. Each occupies one of the four threads that also read and write files. */
const LOOKUPS = 2
/** How long a caller waits for a lookup, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 5_000

/** The resolver of the operating system, which also knows /etc/hosts. */
const lookup: Resolve = (hostname) => dns.lookup(hostname, { all: true, order: 'verbatim' })

/**
 * Limits a resolver: at most two lookups run at once, callers for one name share its lookup, and each waits for at most
 * 5 seconds. A lookup cannot be cancelled, so one that is late keeps its place until it ends.
 */
export function openLookups(resolve: Resolve = lookup, timeoutMs = LOOKUP_TIMEOUT_MS): Resolve {
  const limiter = openLimiter(LOOKUPS, openQueue())
  const running = new Map<string, Promise<readonly LookupAddress[]>>()

  function shared(hostname: string): Promise<readonly LookupAddress[]> {
    const known = running.get(hostname)
    if (known) return known
    const found = limiter.run(() => resolve(hostname)).finally(() => running.delete(hostname))
    running.set(hostname, found)
    return found
  }

  return (hostname) => {
    const { promise, resolve: end, reject } = Promise.withResolvers<readonly LookupAddress[]>()
    const late = () => reject(Object.assign(new Error('the lookup took too long'), { code: 'ETIMEOUT' }))
    const timer = setTimeout(late, timeoutMs)
    shared(hostname).then(end, reject)
    return promise.finally(() => clearTimeout(timer))
  }
}

type AddressQuery = Readonly<{ hostname: string; port: number; isPlain: boolean }>
/** `rules` returns those in effect now. */
type CheckOptions = Readonly<{ rules: () => AddressRules; resolve: Resolve }>

/**
 * The addresses of a host name.
 *
 * @throws OutgoingError if the host has no address, or one that is not permitted
 */
export async function permittedAddresses(
  { hostname, port, isPlain }: AddressQuery,
  { rules, resolve }: CheckOptions,
): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(hostname).catch((error) => {
    throw new OutgoingError('dns', unresolvedText(hostname, codeOf(error)))
  })
  if (addresses.length === 0) throw new OutgoingError('dns', unresolvedText(hostname, 'no address'))
  for (const { address } of addresses) {
    const refusal = rules().refusalOf({ address, port, isPlain })
    if (refusal !== null) throw new OutgoingError('address', `${hostname} resolves to ${address}. ${refusal}`)
  }
  return addresses
}

/** What a connection to a URL needs to be permitted: host without brackets, port, and whether it is http. */
export function destinationOf({ hostname, port, protocol }: HasOrigin): AddressQuery {
  const isPlain = protocol !== 'https:'
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (isPlain ? 80 : 443)),
    isPlain,
  }
}
type HasOrigin = Readonly<{ hostname: string; port?: string; protocol: string }>

function unresolvedText(hostname: string, reason: string): string {
  return `${hostname} cannot be resolved (${reason}). Check the name, and the DNS of this machine.`
}
