/** What may be asked: the HTTP application: every route behind the same checks, with the same errors and one log line. */
import { H3 } from 'h3'
import type { Log } from '../log.ts'
import { trustedProxies, trustProxies } from './addresses.ts'
import { openHosts } from './hosts.ts'
import { openMiddleware } from './middleware.ts'
import { openapiRoute } from './openapi.ts'
import { defineRoute, PUBLIC, type Route } from './route.ts'
import { openRouting } from './routing.ts'

/** Whom the server answers for and whose word it takes. Trusted are loopback addresses unless others are named. */
type HttpSettings = Readonly<{
  base_url?: string | undefined
  hosts?: readonly string[] | undefined
  trusted_proxies?: readonly string[] | undefined
}>

type HttpOptions = HttpSettings & {
  log: Log
  version?: string
  /** Called as each request begins; what it gives is called once the request is answered, before a stream ends. */
  beginRequest?: () => () => void
}

const LOOPBACK_RANGES = ['127.0.0.0/8', '::1/128']
const MAX_WARNINGS = 20

const LIVENESS_ROUTE = defineRoute({
  method: 'GET',
  path: '/healthz',
  summary: 'The process lives',
  tag: 'Operations',
  access: PUBLIC,
  answers: { 200: { description: 'It does.' } },
  any_host: true,
  handler: () => ({ status: 'ok' }),
})

/** Who forgot to name a host learns it from the log; a stranger who tries a thousand names cannot fill it. */
function openForeignHostWarnings(log: Log): (host: string) => void {
  const warned = new Set<string>()
  return (host) => {
    if (warned.size >= MAX_WARNINGS || warned.has(host)) return
    warned.add(host)
    log.warn('refused a request for a host that is neither that of base_url nor in server.hosts', { host })
  }
}

/**
 * Opens the application with `/healthz` and `/api/openapi.json`. Every answer carries `x-request-id`; every error is a
 * problem document; what is not a `Refusal` is logged once with its stack and answered as `internal`.
 */
export function openHttp(options: HttpOptions) {
  const { log, version = 'unreleased', beginRequest = () => () => {} } = options
  const closing = new AbortController()
  const onForeign = openForeignHostWarnings(log)
  let hosts = openHosts({}, onForeign)
  let base_url: string | undefined
  let serving_since: number | null = null

  const { wrap, refuseUnrouted } = openMiddleware({
    log,
    beginRequest,
    hosts: () => hosts,
    closing: closing.signal,
    isHttps: () => base_url?.startsWith('https:') ?? false,
  })
  const app = new H3({ silent: true, onError: refuseUnrouted })

  /** Takes other settings from the next request on. Throws on a range of addresses or a base URL that is none. */
  function configure(settings: HttpSettings): void {
    const proxies = trustedProxies(settings.trusted_proxies ?? LOOPBACK_RANGES)
    hosts = openHosts(settings, onForeign)
    base_url = settings.base_url
    trustProxies(app, proxies)
  }

  configure(options)
  const { add, fallback, routes } = openRouting(app, wrap)
  add([LIVENESS_ROUTE, openapiRoute(() => routes, version)])

  return {
    app,
    /** Adds routes; all of them before the server listens. */
    add,
    fallback,
    /** Every route so far, in the order of adding. */
    routes: (): readonly Route[] => routes,
    configure,
    /** The address that it says it is at, as it was last told. */
    baseUrl: (): string | undefined => base_url,
    /** Notes the instant at which the server began to serve. */
    beginServing(at: number): void {
      serving_since = at
    },
    /** Since when it serves; null while nothing listens. */
    servingSince: (): number | null => serving_since,
    /** Aborted when the server goes down: end streams then, and say not ready. */
    closing: closing.signal,
    /** Says that the server goes down. */
    beginClosing: () => closing.abort(),
    log,
  }
}

/** The HTTP application. */
export type Http = ReturnType<typeof openHttp>
