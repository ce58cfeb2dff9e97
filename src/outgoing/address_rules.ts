/** Decides which IP addresses an outgoing request may reach. */
import ipaddr from 'ipaddr.js'
import { parseAllowedNetwork } from '../config/checks/address_ranges.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** `port` and `isPlain` (http, not https) are those of the request. */
type Destination = Readonly<{ address: string; port: number; isPlain: boolean }>

export type AddressRules = ReturnType<typeof openAddressRules>

/**
 * Addresses of cloud services that give keys to any program on the machine. Only an entry for exactly this address
 * permits one. 168.63.129.16 is Azure's, 192.0.0.192 Oracle's, 100.100.100.200 Alibaba's.
 */
const METADATA = new Set(
  [
    ['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.0.23', '169.254.42.42'],
    ['100.100.100.200', '168.63.129.16', '192.0.0.192'],
    ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42', 'fe80::a9fe:a9fe'],
  ].flat(),
)

const NAMES: Readonly<Record<string, string>> = {
  loopback: 'a loopback address, which is this machine',
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a carrier-grade NAT address',
  unspecified: 'the unspecified address, which is this machine',
  rfc6052: 'a NAT64 address',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
}

/** The only block of which IPv6 unicast addresses are assigned (RFC 4291 §2.4, IANA). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** Parses an address in any spelling, without its zone. IPv4-mapped IPv6 becomes IPv4. Null if it is invalid. */
function parseAddress(text: string): Address | null {
  const [bare = ''] = text.split('%')
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST))

/** The IPv4 address that a NAT64 (RFC 6052), 6to4 (RFC 3056) or Teredo (RFC 4380) address leads to. */
function embeddedAddress(address: Address): ipaddr.IPv4 | null {
  const bytes = address.toByteArray()
  const range = address.range()
  if (range === 'rfc6052') return new ipaddr.IPv4(bytes.slice(12))
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6))
  if (range === 'teredo') return new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))
  return null
}

/**
 * Opens the rules for the entries of `outbound.allow`. Without an entry, an address must be public and the request must
 * use https. An address that contains an IPv4 address also needs permission for that address.
 */
export function openAddressRules(allow: readonly string[]) {
  const networks = allow.flatMap((text) => {
    const network = parseAllowedNetwork(text)
    return 'problem' in network ? [] : [network]
  })

  function isAllowed(address: Address, port: number): boolean {
    const isMetadata = METADATA.has(address.toString())
    return networks.some(
      (network) =>
        network.start.kind() === address.kind() &&
        (network.port === null || network.port === port) &&
        (!isMetadata || network.bits === bitsOf(address)) &&
        address.match(network.start, network.bits),
    )
  }

  /** The line of config.toml that permits the address, with this port only, in addition to what is permitted now. */
  const lineFor = (address: Address, port: number): string =>
    `allow = ${JSON.stringify([...allow, entryFor(address, port)]).replaceAll(',', ', ')}`

  function faultOf(address: Address, { port, isPlain }: Destination): string | null {
    if (isAllowed(address, port)) {
      const embedded = embeddedAddress(address)
      return embedded === null ? null : faultOf(embedded, { address: embedded.toString(), port, isPlain })
    }
    const permit = `To permit it, set ${lineFor(address, port)} in [outbound] of config.toml, and reload or restart.`
    if (METADATA.has(address.toString()))
      return `${address} is a metadata address, which can reveal the keys of this machine. ${permit}`
    if (!isPublic(address))
      return `${address} is ${NAMES[address.range()] ?? 'not a public address'}. ${permit}`
    return isPlain ? `${address} is public, and http is not encrypted. Use https. ${permit}` : null
  }

  /** Why the destination is refused, in whole sentences; null if it is permitted. */
  function refusalOf(destination: Destination): string | null {
    const address = parseAddress(destination.address)
    return address === null ? `${destination.address} is not an IP address.` : faultOf(address, destination)
  }

  return { refusalOf }
}

/** The entry of `outbound.allow` for exactly this address and port. */
function entryFor(address: Address, port: number): string {
  const range = `${address}/${bitsOf(address)}`
  return address instanceof ipaddr.IPv4 ? `${range}:${port}` : `[${range}]:${port}`
}

const bitsOf = (address: Address): number => (address instanceof ipaddr.IPv4 ? 32 : 128)
