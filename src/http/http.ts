/** Opens the HTTP application, in which every route has the same checks, error format and log line per request. */
import { H3, type H3Event } from 'h3'
import { type Clock, systemClock } from '../clock.ts'
import type { Log } from '../log.ts'
import { trustProxies } from './addresses.ts'
import { type HttpSettings, openAdmission } from './admission/admission.ts'
import { type CallHistory, openCallHistory } from './admission/call_history.ts'
import { isAborted } from './body/body.ts'
import { ALIVE } from './listening/starting.ts'
import { type Answer, openMiddleware } from './middleware.ts'
import { openRequestCounts } from './request_counts.ts'
import { defineRoute, PUBLIC, type Route } from './route.ts'
import { openRouting } from './routing.ts'

type HttpOptions = HttpSettings & {
  log: Log
  /** By default that of the system. */
  clock?: Clock
  version?: string
  /** Called when a request begins. The returned function is called when the response begins, even if it is a stream. */
  beginRequest?: (kind: 'reading' | 'writing') => () => void
}

const LIVENESS_ROUTE = defineRoute({
  method: 'GET',
  path: '/healthz',
  summary: 'Check that the process is alive',
  tag: 'Operations',
  access: PUBLIC,
  answers: { 200: { description: 'The process is alive.' } },
  any_host: true,
  handler: () => ALIVE,
})

/** The route of the OpenAPI document, which is made at the first request. `routes` returns all routes. */
function openapiRoute(routes: () => readonly Route[], version: string): Route {
  let cachedDocument: { routeCount: number; document: object } | null = null
  return defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'Get this OpenAPI document',
    tag: 'Operations',
    access: PUBLIC,
    answers: { 200: { description: 'The OpenAPI 3.1 document.', content_type: 'application/json' } },
    cors: true,
    async handler() {
      const all = routes()
      if (cachedDocument?.routeCount !== all.length) {
        const { describeRoutes } = await import('./openapi.ts')
        cachedDocument = { routeCount: all.length, document: describeRoutes(all, version) }
      }
      return cachedDocument.document
    },
  })
}

/** Returns the function that counts an answer: for its route, and for who called. */
const countedBy =
  (counts: Pick<ReturnType<typeof openRequestCounts>, 'note'>, calls: Pick<CallHistory, 'note'>) =>
  (event: H3Event, route: string, { status, ms, refusal }: Answer): void => {
    counts.note(`${event.req.method} ${route}`, status, ms)
    const { code = String(status), limit = null } = refusal ?? {}
    if (!isAborted(event)) calls.note(event, route, status < 400 ? null : { code, limit })
  }

/**
 * Opens the application with the routes `/healthz` and `/api/openapi.json`. Every response has an `x-request-id`. The
 * response to every error is a problem document. An error that is not a `Refusal` is logged with its stack, and its
 * response has the code `internal`.
 */
export function openHttp(options: HttpOptions) {
  const { log, clock = systemClock, version = 'unreleased', beginRequest = () => () => {} } = options
  const closing = new AbortController()
  const counts = openRequestCounts()
  const calls = openCallHistory(clock)
  const admission = openAdmission(log)
  let base_url: string | undefined
  let serving_since: number | null = null

  const { wrap, refuseUnrouted } = openMiddleware({
    log,
    beginRequest,
    admit: admission.admit,
    closing: closing.signal,
    counted: countedBy(counts, calls),
    isHttps: () => base_url?.startsWith('https:') ?? false,
  })
  const app = new H3({ silent: true, onError: refuseUnrouted })

  /** Applies settings to all later requests. @throws Error if a CIDR range or the base URL is invalid */
  function configure(settings: HttpSettings): void {
    trustProxies(app, admission.configure(settings))
    base_url = settings.base_url
  }

  configure(options)
  const { add, fallback, routes } = openRouting(app, wrap)
  add([LIVENESS_ROUTE, openapiRoute(() => routes, version)])

  return {
    app,
    /** Adds routes. Call it before the server listens. */
    add,
    fallback,
    /** The routes that were added so far, in that order. */
    routes: (): readonly Route[] => routes,
    configure,
    /** What browsers and proxies sent. */
    seen: admission.seen,
    /** The configured base URL. */
    baseUrl: (): string | undefined => base_url,
    /** Sets the instant at which the server began to listen. */
    beginServing(at: number): void {
      serving_since = at
    },
    /** The instant at which the server began to listen; null before that. */
    servingSince: (): number | null => serving_since,
    /** Aborted when the server shuts down: streams end then, and the readiness check fails. */
    closing: closing.signal,
    /** Begins the shutdown. */
    beginClosing: () => closing.abort(),
    log,
    /** The requests since the start, by method and route. */
    requestCounts: counts.byRoute,
    /** Who called in the last 24 hours. */
    calls,
  }
}

/** The HTTP application. */
export type Http = ReturnType<typeof openHttp>
