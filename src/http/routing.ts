/** Routes requests. Unsupported methods get 405, and unknown paths get 404. */
import { type H3, type H3Event, HTTPResponse } from 'h3'
import { Refusal } from '../errors.ts'
import type { Route } from './route.ts'
import { preflightHeaders } from './security_headers.ts'

/** Wraps a handler with the middleware. */
export type Wrap = (
  handler: (event: H3Event) => unknown,
  options?: {
    cors?: boolean | undefined
    any_host?: boolean | undefined
    logged_as?: string | undefined
    route?: string | undefined
  },
) => (event: H3Event) => unknown

function refuseMethod(allowed: ReadonlySet<string>): never {
  const allow = [...allowed].join(', ')
  const headers = { allow }
  throw new Refusal(405, 'method_not_allowed', `This path supports only ${allow}.`, { headers })
}

function refusePath(): never {
  throw new Refusal(404, 'not_found', 'There is nothing at this path.')
}

/** Opens the routing table of an application. A path without a route gets the response of `fallback`, or 404. */
export function openRouting(app: H3, wrap: Wrap) {
  const routes: Route[] = []
  const methods = new Map<string, Set<string>>()
  let fallbackHandler: Route['handler'] = refusePath
  app.all(
    '/**',
    wrap((event) => fallbackHandler(event) ?? refusePath()),
  )

  /** Registers the 405 and preflight responses of a path, with the options of its first route. */
  function registerPath({ path, cors, any_host, private_path }: Route): Set<string> {
    const logged_as = private_path ? path : undefined
    const allowed = new Set<string>()
    methods.set(path, allowed)
    app.all(
      path,
      wrap(() => refuseMethod(allowed), { cors, any_host, logged_as }),
    )
    if (cors !== true) return allowed
    allowed.add('OPTIONS')
    const preflight = () => new HTTPResponse(null, { status: 204, headers: preflightHeaders([...allowed]) })
    app.options(path, wrap(preflight, { cors, any_host, logged_as }))
    return allowed
  }

  function addRoute(route: Route): void {
    const { path, method, cors, any_host, private_path } = route
    const allowed = methods.get(path) ?? registerPath(route)
    if (allowed.has(method)) throw new Error(`${method} ${path} already has a route`)
    const logged_as = private_path ? path : undefined
    const handler = wrap(route.handler, { cors, any_host, logged_as, route: path })
    const methodsToAdd = method === 'GET' ? (['GET', 'HEAD'] as const) : [method]
    for (const each of methodsToAdd) {
      app.on(each, path, handler)
      allowed.add(each)
    }
    routes.push(route)
  }

  /** Adds routes. @throws Error if the path of a route already has a route for its method */
  const add = (added: readonly Route[]): void => added.forEach(addRoute)

  /** Sets the handler of paths without a route. If it returns undefined, the response is a 404 problem. */
  const fallback = (handler: Route['handler']): void => {
    fallbackHandler = handler
  }

  return { add, fallback, routes }
}
