/** Opens connections only to addresses that the rules permit. */
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import tls from 'node:tls'
import { buildConnector } from 'undici'
import type { AddressRules } from './address_rules.ts'
import { destinationOf, permittedAddresses, type Resolve } from './addresses.ts'
import { OutgoingError } from './failures.ts'

/** `ca` is the content of `outbound.ca_file`. `rules` returns those in effect now. */
export type ConnectorOptions = Readonly<{ rules: () => AddressRules; ca: string | null; resolve: Resolve }>

const CONNECT_TIMEOUT_MS = 10_000
/** How long one of several addresses may take before the next is tried. */
const ATTEMPT_TIMEOUT_MS = 1000

/**
 * Opens a connector for undici. It refuses a host if any of its addresses is not permitted, connects to no other
 * addresses than those it checked, and checks the address of the connection before it sends anything.
 *
 * `onConnected` gets the address of each connection that is ready.
 */
export function openConnector({ rules, ca, resolve }: ConnectorOptions) {
  const secureContext =
    ca === null ? undefined : tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ca] })

  return (onConnected: (address: string) => void): buildConnector.connector =>
    (options, callback) => {
      const destination = destinationOf(options)
      const { hostname, port, isPlain } = destination
      const refusalOf = (address: string) => rules().refusalOf({ address, port, isPlain })

      // The lookup function is not called for a literal address.
      const refusal = isIP(hostname) === 0 ? null : refusalOf(hostname)
      if (refusal !== null) return callback(new OutgoingError('address', refusal), null)

      const connect = buildConnector({
        allowH2: false,
        maxCachedSessions: 0,
        timeout: CONNECT_TIMEOUT_MS,
        autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
        lookup: lookupOf(() => permittedAddresses(destination, { rules, resolve })),
        ...(secureContext && { secureContext }),
      })
      // undici returns the socket; its types do not say so.
      const socket: unknown = connect({ ...options, hostname }, (...result) => {
        if (result[0] === null) onConnected(result[1].remoteAddress ?? '')
        callback(...result)
      })
      if (!(socket instanceof Socket)) throw new Error('undici returned no socket')
      // The first listener: it runs before the TLS handshake begins.
      socket.prependOnceListener('connect', () => {
        const fault = refusalOf(socket.remoteAddress ?? '')
        if (fault !== null)
          socket.destroy(new OutgoingError('address', `The connection reached another address. ${fault}`))
      })
    }
}

/** Adapts a list of addresses to the lookup function of `net.connect`. */
function lookupOf(addressesOf: () => Promise<readonly LookupAddress[]>): LookupFunction {
  return (_hostname, { all }, callback) => {
    addressesOf().then(
      (addresses) => {
        const [first = { address: '', family: 0 }] = addresses
        if (all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
}
