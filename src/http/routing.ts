/** What may be asked: the table of routes, and what an address answers to methods that it does not have. */
import { type H3, type H3Event, HTTPResponse } from 'h3'
import { Refusal } from '../errors.ts'
import { preflightHeaders } from './response.ts'
import type { Route } from './route.ts'

/** Wraps a handler in what surrounds all of them. */
export type Wrap = (
  handler: (event: H3Event) => unknown,
  options?: { cors?: boolean | undefined; any_host?: boolean | undefined; logged_as?: string | undefined },
) => (event: H3Event) => unknown

function refuseMethod(allowed: ReadonlySet<string>): never {
  const allow = [...allowed].join(', ')
  const headers = { allow }
  throw new Refusal(405, 'method_not_allowed', `This address answers to ${allow} alone.`, { headers })
}

function refuseAddress(): never {
  throw new Refusal(404, 'not_found', 'There is nothing at this address.')
}

/** Opens the table on an application: every address that `add` gave no route answers 404, or what `elsewhere` says. */
export function openRouting(app: H3, wrap: Wrap) {
  const routes: Route[] = []
  const methods = new Map<string, Set<string>>()
  let fallbackHandler: Route['handler'] = refuseAddress
  app.all(
    '/**',
    wrap((event) => fallbackHandler(event) ?? refuseAddress()),
  )

  /** The first route of an address also decides whom its refusals may be read by. */
  function openAddress({ path, cors, any_host, private_path }: Route): Set<string> {
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
    app.options(path, wrap(preflight, { cors, any_host }))
    return allowed
  }

  function addRoute(route: Route): void {
    const { path, method, cors, any_host, private_path } = route
    const allowed = methods.get(path) ?? openAddress(route)
    if (allowed.has(method)) throw new Error(`${method} ${path} is there already`)
    const logged_as = private_path ? path : undefined
    const handler = wrap(route.handler, { cors, any_host, logged_as })
    const methodsToAdd = method === 'GET' ? (['GET', 'HEAD'] as const) : [method]
    for (const each of methodsToAdd) {
      app.on(each, path, handler)
      allowed.add(each)
    }
    routes.push(route)
  }

  /** Adds routes. Throws where a method of an address has one already. */
  const add = (added: readonly Route[]): void => added.forEach(addRoute)

  /** What an address without a route answers; where that is undefined, 404 as a problem. */
  const fallback = (handler: Route['handler']): void => {
    fallbackHandler = handler
  }

  return { add, fallback, routes }
}
