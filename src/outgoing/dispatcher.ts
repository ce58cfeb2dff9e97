/** Sends requests to addresses that a person entered, such as webhooks. */

import { isIP } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import { preciseTime } from '../clock.ts'
import { type AddressRules, openAddressRules } from './address_rules.ts'
import { destinationOf, openLookups, permittedAddresses, type Resolve } from './addresses.ts'
import { exchange } from './exchange.ts'
import { type Failure, failureOf, OutgoingError } from './failures.ts'
import type { Connection } from './pools.ts'
import { parseTarget } from './target.ts'
import { openTcp } from './tcp.ts'

/** `timeoutMs`: milliseconds until the status line must have arrived, by default 15,000. */
export type OutgoingRequest = Readonly<{
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers: Readonly<Record<string, string>>
  body: Buffer | null
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}>

/**
 * A response. `excerpt` is the beginning of its body as text, at most 2,048 bytes. `address` is the IP address that
 * answered. `ms` is the time from the call to the status line.
 */
export type Answer = Readonly<{
  status: number
  headers: Dispatcher.ResponseData['headers']
  excerpt: string
  address: string
  ms: number
}>

/** The settings that a reload can change: `outbound.allow` and the content of `outbound.ca_file`. */
type OutboundSettings = Readonly<{ allow: readonly string[]; ca: string | null }>

const STATUS_TIMEOUT_MS = 15_000

/**
 * Opens the dispatcher. It uses HTTP/1.1, follows no redirect and uses no proxy. `resolve` resolves host names, by
 * default as the operating system does.
 */
export function openDispatcher(settings: OutboundSettings & { resolve?: Resolve }) {
  const { resolve = openLookups() } = settings
  const cancelling = openCancelling()
  let rules = openAddressRules(settings.allow)
  let ca = settings.ca
  /** Null until the first request. */
  let agent: Promise<Agent> | null = null

  async function openAgent(): Promise<Agent> {
    const { openPools } = await import('./pools.ts')
    return openPools({ rules: () => rules, ca, resolve })
  }

  /**
   * Sends a request. Any response counts, also one that arrives before the body was sent or that breaks off after the
   * status line. At most 2,048 bytes of its body are read, for at most a second; the rest is dropped.
   *
   * @throws the reason of `signal` when it aborts before the status line; an Error after `close` or for an invalid header
   */
  async function request(outgoing: OutgoingRequest): Promise<Answer | Failure> {
    const target = parseTarget(outgoing.url)
    if ('refusal' in target) return { kind: 'address', words: target.refusal }
    const { url } = target
    const running = cancelling.begin(outgoing, url.host)
    const began_at = preciseTime()
    try {
      const opaque: { connection?: Connection } = {}
      const { method, body } = outgoing
      const options = { origin: url.origin, path: url.pathname + url.search, method, body, opaque }
      const watch = { signal: running.signal, onStatus: running.stopTimer }
      const sent = { ...options, headers: { ...outgoing.headers } }
      agent ??= openAgent()
      const { status_at, ...received } = await exchange(await agent, sent, watch)
      return { ...received, address: opaque.connection?.address ?? '', ms: status_at - began_at }
    } catch (error) {
      outgoing.signal?.throwIfAborted()
      cancelling.throwIfClosed()
      return failureOf(error, url.host)
    } finally {
      running.end()
    }
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
    cancelling.close(new Error('The request was aborted: Windfall is stopping.'))
    await (await agent)?.destroy()
  }

  return { request, ...openDirect({ rules: () => rules, resolve }), ca: () => ca, reconfigure, close }
}

/**
 * Cancels requests: each after its timeout or when its own signal aborts, and all at the end. `AbortSignal.any` would do
 * the same, but its signals stay in memory until the next full garbage collection.
 */
function openCancelling() {
  const running = new Set<AbortController>()
  let closed: Error | null = null

  function begin({ signal, timeoutMs = STATUS_TIMEOUT_MS }: OutgoingRequest, host: string) {
    const controller = new AbortController()
    const late = () =>
      new OutgoingError('timeout', `${host} did not answer within ${timeoutMs / 1000} seconds.`)
    const timer = setTimeout(() => controller.abort(late()), timeoutMs)
    const stopTimer = (): void => clearTimeout(timer)
    const follow = (): void => controller.abort(signal?.reason)
    signal?.addEventListener('abort', follow, { once: true })
    running.add(controller)
    if (signal?.aborted) follow()
    if (closed) controller.abort(closed)

    function end(): void {
      stopTimer()
      signal?.removeEventListener('abort', follow)
      running.delete(controller)
    }

    return { signal: controller.signal, stopTimer, end }
  }

  function throwIfClosed(): void {
    if (closed) throw closed
  }

  function close(reason: Error): void {
    closed = reason
    for (const controller of running) controller.abort(reason)
  }

  return { begin, throwIfClosed, close }
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
