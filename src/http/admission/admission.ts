/** Admits requests for the hosts of this server, and notes what browsers and proxies send. */
import { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import type { Log } from '../../log.ts'
import { trustedProxies } from '../addresses.ts'
import { header } from '../body/body.ts'
import { openHosts } from '../hosts.ts'
import { openSeenRequests } from './seen.ts'

/** The hosts of the server, and its trusted proxies. By default, the proxies are the loopback addresses. */
export type HttpSettings = Readonly<{
  base_url?: string | undefined
  hosts?: readonly string[] | undefined
  trusted_proxies?: readonly string[] | undefined
}>

const LOOPBACK_RANGES = ['127.0.0.0/8', '::1/128']
const MAX_WARNINGS = 20

/** Logs each foreign host once, up to a limit, so that a client cannot fill the log. */
function openForeignHostWarnings(log: Log): (host: string) => void {
  const warned = new Set<string>()
  return (host) => {
    if (warned.size >= MAX_WARNINGS || warned.has(host)) return
    warned.add(host)
    log.warn('refused a request for a host that is not in base_url or server.hosts', { host })
  }
}

/** Opens the admission. Call `configure` before the first request. */
export function openAdmission(log: Log) {
  const seen = openSeenRequests()
  const warnForeign = openForeignHostWarnings(log)
  let assertHost = openHosts({}, onForeign)

  function onForeign(host: string): void {
    seen.noteForeignHost(host)
    warnForeign(host)
  }

  /** Applies settings to all later requests, and returns the trusted proxies. @throws Error if a range is invalid */
  function configure(settings: HttpSettings) {
    const proxies = trustedProxies(settings.trusted_proxies ?? LOOPBACK_RANGES)
    assertHost = openHosts(settings, onForeign)
    seen.reset(proxies)
    return proxies
  }

  /** @throws Refusal when the request is for another host, unless it has `any_host`. */
  function admit(event: H3Event, any_host: boolean): void {
    const req = event.runtime?.node?.req
    if (!any_host)
      assertHost(
        req?.url ?? event.url.pathname,
        header(event, 'host') ?? (req === undefined ? event.url.host : ''),
      )
    if (req instanceof IncomingMessage) seen.note(req)
  }

  return { seen, configure, admit }
}
