/** Sends requests to addresses that a person entered, such as webhooks. */

import { isIP } from 'node:net'
import type { Agent } from 'undici'
import { type AddressRules, openAddressRules } from './address_rules.ts'
import { destinationOf, openLookups, permittedAddresses, type Resolve } from './addresses.ts'
import { type Failure, failureOf } from './failures.ts'
import { openRequests } from './requests.ts'
import { openSending } from './sending.ts'
import { parseTarget } from './target.ts'
import { openTcp } from './tcp.ts'

/** The settings that a reload can change: `outbound.allow` and the content of `outbound.ca_file`. */
type OutboundSettings = Readonly<{ allow: readonly string[]; ca: string | null }>

/**
 * Opens the dispatcher. It uses HTTP/1.1, follows no redirect and uses no proxy. `resolve` resolves host names, by
 * default as the operating system does.
 */
export function openDispatcher(settings: OutboundSettings & { resolve?: Resolve }) {
  const { resolve = openLookups() } = settings
  const sender = openSending()
  let rules = openAddressRules(settings.allow)
  let ca = settings.ca
  /** Null until the first request. */
  let agent: Promise<Agent> | null = null

  async function openAgent(): Promise<Agent> {
    const { openPools } = await import('./pools.ts')
    return openPools({ rules: () => rules, ca, resolve })
  }

  function pools(): Promise<Agent> {
    agent ??= openAgent()
    return agent
  }

  /** Applies new settings. Idle connections close; running requests finish; new requests use new connections. */
  function reconfigure(next: OutboundSettings): void {
    const previous = agent
    rules = openAddressRules(next.allow)
    ca = next.ca
    agent = null
    void previous?.then((pools) => pools.close())
  }

  /** Aborts running requests and closes all connections. */
  async function close(): Promise<void> {
    sender.close(new Error('The request was aborted: Windfall is stopping.'))
    await (await agent)?.destroy()
  }

  return {
    ...openRequests(sender.send, pools),
    ...openDirect({ rules: () => rules, resolve }),
    ca: () => ca,
    reconfigure,
    close,
  }
}

/** What does not send a request: checks of URLs, and connections for other protocols. */
const openDirect = (options: { rules: () => AddressRules; resolve: Resolve }) => ({
  check: openCheck(options),
  connect: openTcp(options),
})

/** Returns the function that checks a URL. */
function openCheck({ rules, resolve }: { rules: () => AddressRules; resolve: Resolve }) {
  /**
   * Why requests to a URL would be refused, or that its host cannot be resolved; null if neither. It resolves the host
   * and does not connect.
   */
  return async (text: string): Promise<Failure | null> => {
    const target = parseTarget(text)
    if ('refusal' in target) return { kind: 'address', words: target.refusal }
    const destination = destinationOf(target.url)
    const { hostname: address } = destination
    if (isIP(address) > 0) {
      const words = rules().refusalOf({ ...destination, address })
      return words === null ? null : { kind: 'address', words }
    }
    return permittedAddresses(destination, { rules, resolve }).then(
      () => null,
      (error: unknown) => failureOf(error, target.url.host),
    )
  }
}
