/** Where passkeys work: browsers bind them to a host name, and permit them over https and at localhost only. */
import { isIP } from 'node:net'

/** The host and origin of `base_url` (the relying party of WebAuthn), and why passkeys do not work there, if so. */
export type RelyingParty = { host: string; origin: string; problem: string | null }

/** The relying party of the address that browsers open. */
export function relyingPartyOf(base_url: string): RelyingParty {
  const { hostname: host, origin, protocol, port } = new URL(base_url)
  const isLocal = host === 'localhost' || host.endsWith('.localhost')
  const isAddress = isIP(host.replace(/^\[|\]$/g, '')) !== 0
  if (!isAddress && (isLocal || protocol === 'https:')) return { host, origin, problem: null }
  const here = `http://localhost${port === '' ? '' : `:${port}`}`
  const remedy = `Set base_url to a host name with https, or, on this machine alone, to ${here}, and open Windfall there.`
  const why = isAddress
    ? `Browsers bind passkeys to a host name, and ${host} is an address.`
    : 'Browsers permit passkeys over https only.'
  return { host, origin, problem: `${why} ${remedy}` }
}
